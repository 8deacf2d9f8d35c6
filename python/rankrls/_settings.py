"""The settings of a selection: their names, values and descriptions are those of the library."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from dataclasses import fields
from typing import Any, TypeVar

from . import _rankrls

Class = TypeVar("Class", bound=type)

# What the library says of each setting, by the name of the parameter.
SETTINGS: dict[str, dict[str, Any]] = {
    setting["parameter"]: setting for setting in json.loads(_rankrls.settings())
}


def given(settings: dict[str, Any]) -> dict[str, Any]:
    """The parameters behind `settings` of a model."""
    return {_rankrls.parameter(name): value for name, value in settings.items()}


def documented(estimator: Class) -> Class:
    """Describes the settings where the docstring of `estimator` has {settings}. Gives its signature
    the order of the docstring.
    """
    parameters = {field.name: field for field in fields(estimator)}
    lines = []
    for name, setting in SETTINGS.items():
        if name in ("random_state", "strategy"):
            continue
        if name not in parameters:
            raise TypeError(f"{estimator.__name__} lacks the setting {name}: add it to _Selecting")
        field = parameters[name]
        kind = str(field.type).replace("Sequence[float | str]", "sequence").replace(" | ", " or ")
        if setting["values"]:
            kind = "{" + ", ".join(f'"{value}"' for value in setting["values"]) + "}"
        kind = kind.removesuffix(" or None")
        usual = "optional" if field.default is None else f"default={json.dumps(field.default)}"
        words = re.sub(r" \[default: (.*)\]$", r". By default \1", setting["help"]) + "."
        words = re.sub(r"\blambda\b", "alpha", words)
        lines += [f"{name} : {kind}, {usual}", textwrap.indent(textwrap.fill(words, 88), "    ")]
    # Python has no docstrings under -OO.
    if estimator.__doc__:
        text = inspect.cleandoc(estimator.__doc__).replace("{settings}", "\n".join(lines))
        estimator.__doc__ = text
        _order(vars(estimator)["__init__"], text)
    return estimator


def _order(init: Any, text: str) -> None:
    """Sorts the parameters as the docstring lists them. All but the first are keywords."""
    listed = text.partition("Parameters\n")[2].partition("\nAttributes\n")[0]
    order = re.findall(r"^(\w+) : ", listed, re.MULTILINE)
    signature = inspect.signature(init)
    own, *others = signature.parameters.values()
    others.sort(key=lambda parameter: order.index(parameter.name))
    init.__signature__ = signature.replace(parameters=[own, *others])

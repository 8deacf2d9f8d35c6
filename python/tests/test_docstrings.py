"""Docstrings follow numpydoc: they have parameters, results, and types of both."""

import inspect
import json
import re

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate
from sklearn.base import BaseEstimator

import rankrls
import rankrls.plot

# Sections, parameters and results. Summaries are in the words of this package.
RULES = {
    *("GL06", "GL07", "GL08", "PR01", "PR02", "PR03", "PR04", "PR05", "PR07", "PR08", "PR09"),
    *("PR10", "RT01", "RT02", "RT03", "RT04", "RT05", "SS01", "SS03"),
}


def functions_and_classes():
    for module in (rankrls, rankrls.metrics, rankrls.plot):
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isroutine(found) or inspect.isclass(found):
                yield f"{module.__name__}.{name}", found


PUBLIC = dict(functions_and_classes())
METHODS = {
    f"{name}.{member}": found
    for name, kind in PUBLIC.items()
    if inspect.isclass(kind)
    for member, found in inspect.getmembers(kind)
    if not member.startswith("_")
    and (inspect.isroutine(found) or isinstance(found, property))
    # Methods of scikit-learn, and methods that it makes from signatures.
    and str(getattr(getattr(found, "fget", found), "__module__", "")).startswith("rankrls")
}


@pytest.mark.parametrize("name", sorted(PUBLIC | METHODS))
def test_parameters_and_results_are_documented(name):
    rules = set(RULES)
    if inspect.isclass(PUBLIC.get(name)) and not issubclass(PUBLIC[name], BaseEstimator):
        # Its fields are documented as attributes.
        rules -= {"PR01"}
    assert [error for error in validate(name)["errors"] if error[0] in rules] == []


@pytest.mark.parametrize("name", sorted(name for name in PUBLIC if inspect.isclass(PUBLIC[name])))
def test_attributes_have_types(name):
    attributes = get_doc_object(PUBLIC[name])["Attributes"]
    assert [each.name for each in attributes if not each.type] == []


ESTIMATORS = [rankrls.GreedyRankRLS, rankrls.GreedyRankRLSCV, rankrls.RankRLS]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters_have_the_types_and_defaults_of_the_signature(estimator):
    described = {each.name: each.type for each in get_doc_object(estimator)["Parameters"]}
    for names, kind in described.items():
        for place, name in enumerate(names.split(", ")):
            default = inspect.signature(estimator).parameters[name].default
            said = re.findall(r"default=(.*)", kind)
            if "optional" in kind:
                assert default is None, name
            elif "," in names:
                assert said[0].split(", ")[place] == json.dumps(default), name
            else:
                assert said == [repr(default).replace("'", '"')], name


def test_both_selectors_have_the_same_settings():
    one, other = (inspect.signature(kind).parameters for kind in ESTIMATORS[:2])
    own = {"n_features_to_select", "alpha", "strategy", "choose_by"}
    assert [name for name in one if name not in own] == list(other)[7:]
    assert all(one[name].default == other[name].default for name in one if name not in own)

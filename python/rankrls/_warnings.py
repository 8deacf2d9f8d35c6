"""Warnings of the library, given where the user called."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import sklearn

# Python itself leaves out frames of packages from 3.12 on.
_PACKAGES = (str(Path(__file__).parent), str(Path(sklearn.__file__).parent))


def tell(found: Iterable[Sequence[object]], names: Sequence[str] | None = None) -> None:
    """Gives warnings: each is a text, and the column that it is about, or None.

    A column is called by its name where there are `names`.
    """
    level = _level()
    for text, column in found:
        message = str(text)
        if isinstance(column, int) and names is not None:
            begin = f"column {column} "
            message = f"column {str(names[column])!r} {message.removeprefix(begin)}"
        warnings.warn(message, UserWarning, stacklevel=level)


def _level() -> int:
    """How far up the caller of this package is, from `tell`."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGES):
        frame, level = frame.f_back, level + 1
    return level

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

class Model:
    @staticmethod
    def from_json(text: bytes, name: str = ...) -> Model: ...
    def to_json(self, names: list[str] | None = ...) -> bytes: ...
    @property
    def features(self) -> NDArray[np.int64]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def identical(self) -> list[list[int]]: ...
    @property
    def names(self) -> list[str | None]: ...
    @property
    def path(self) -> list[tuple[float, float | None]]: ...
    @property
    def missing(self) -> str | None: ...
    @property
    def columns(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def refit_alpha(self) -> float | None: ...
    @property
    def strategy(self) -> str: ...
    @property
    def objective(self) -> str: ...
    @property
    def kernel(self) -> str | None: ...
    @property
    def coefficients(self) -> NDArray[np.float64]: ...
    def scores(self, x: Any, threads: int) -> NDArray[np.float64]: ...
    def explain(
        self,
        x: Any,
        codes: NDArray[np.int64],
        ids: list[str],
        query: int,
        versus: int | None,
    ) -> tuple[float, list[tuple[int, float, NDArray[np.uint64], NDArray[np.float64]]]]: ...

def memory_size(size: str) -> int: ...
def select(
    data: dict[str, Any],
    options: str,
    threads: int,
    keep_path: bool = ...,
    test: Any = ...,
    callback: Callable[..., bool] | None = ...,
) -> tuple[dict[str, Any], BaseException | None]: ...
def tune(
    data: dict[str, Any],
    options: str,
    threads: int,
    callback: Callable[..., bool] | None = ...,
) -> tuple[dict[str, Any], BaseException | None]: ...
def train(data: dict[str, Any], options: str, threads: int) -> dict[str, Any]: ...
def evaluate(
    metrics: str,
    labels: NDArray[np.float64],
    scores: NDArray[np.float64],
    sizes: list[int],
    rules: str,
) -> dict[str, tuple[tuple[float | None, float | None, int, int], NDArray[np.float64]]]: ...
def paired(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    resamples: int,
    confidence: float,
    seed: int,
) -> str: ...
def read(
    path: Path, zero_based: bool, regroup: bool, width: int | None, names: Path | None
) -> dict[str, Any]: ...
def write_svmlight(
    path: Path,
    x: Any,
    y: NDArray[np.float64],
    codes: NDArray[np.int64],
    ids: list[str],
    zero_based: bool,
) -> None: ...

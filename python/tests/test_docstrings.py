"""Docstrings have what numpydoc asks for: parameters, results, and types of both."""

import inspect

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate
from sklearn.base import BaseEstimator

import rankrls
import rankrls.plot
from rankrls._settings import SETTINGS

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
    # Those of scikit-learn, and those that it makes of signatures.
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


def test_parameters_that_are_passed_on_are_named():
    params = set(rankrls.GreedyRankRLS().get_params()) - {"n_features_to_select"}
    rules = {"convention", "gain", "relevant_from", "max_grade"}
    for function, expected in ((rankrls.select_path, params), (rankrls.metrics.score, rules)):
        said = " ".join(get_doc_object(function)["Parameters"][-1].desc)
        assert {name for name in expected if f"`{name}`" not in said} == set()


@pytest.mark.parametrize("estimator", [rankrls.GreedyRankRLS, rankrls.GreedyRankRLSCV])
def test_every_setting_of_the_library_is_a_parameter_with_its_description(estimator):
    params = set(estimator().get_params()) | {"strategy"}
    assert set(SETTINGS) - params == set(), "add a field to _Selecting in _greedy.py"
    described = {each.name for each in get_doc_object(estimator)["Parameters"]}
    assert set(SETTINGS) - described <= {"strategy", "random_state"}
    assert "{settings}" not in estimator.__doc__

"""Sphinx makes the reference of the package from its docstrings: `cargo xtask python` runs it."""

import rankrls

project = "rankrls"
author = "The rankrls authors"
release = rankrls.__version__
extensions = ["sphinx.ext.autodoc", "numpydoc"]
# What all estimators of scikit-learn have stands in its own reference.
autodoc_default_options = {
    "exclude-members": "get_metadata_routing, set_fit_request, set_output, set_predict_request, "
    "set_score_request"
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
default_role = "py:obj"
smartquotes = False
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
html_theme = "alabaster"
html_theme_options = {
    "description": "Selects sparse features for learning to rank",
    "fixed_sidebar": True,
    "page_width": "1080px",
    "body_max_width": "820px",
}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
html_copy_source = False
html_show_sphinx = False

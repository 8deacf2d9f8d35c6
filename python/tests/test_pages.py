"""Pages, notebook and gallery show their results. Ctrl-C in a notebook ends only a fit."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import sklearn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "python" / "examples"

PAGES = ["README.md", "python/README.md", "docs/python.md", "docs/how-do-i.md"]
PAGES += ["docs/tutorial-documents.md", "docs/tutorial-texts.md"]

LONG_FIT = """
import numpy as np
from rankrls import GreedyRankRLS

X = np.random.default_rng(1).normal(size=(4000, 3000))
qid = np.repeat(range(400), 10)
print("begins", flush=True)
GreedyRankRLS(2000, alpha=1.0, strategy="dense").fit(X, X[:, 0], qid=qid)
"""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_shows(page, tmp_path, monkeypatch, capsys, request):
    text = (ROOT / page).read_text()
    blocks = re.compile(r"```python\n(.*?)```\n(?:\n((?:    [^\n]+\n)+))?", re.DOTALL)
    blocks = blocks.findall(text)
    os.symlink(ROOT / "corpora", tmp_path / "corpora")
    monkeypatch.chdir(tmp_path)
    for line in re.findall(r"^    \$ rankrls (convert corpora/.*)", text, re.MULTILINE):
        request.getfixturevalue("command")(*line.split())
    names = {}
    with sklearn.config_context():
        for code, below in blocks:
            exec(code, names)
            printed = capsys.readouterr().out.splitlines()
            beside = re.findall(r"^print.*  # (\[.*)", code, re.MULTILINE)
            shown = [line[4:] for line in below.splitlines()] or beside
            assert not shown or printed == shown
    assert names


def test_the_oldest_packages_are_those_that_tests_take():
    project = (ROOT / "python/pyproject.toml").read_text()
    tested = (ROOT / "python/tests/requirements-oldest.txt").read_text()
    named = re.findall(r'"(numpy|scipy|scikit-learn|matplotlib)>=([0-9.]+)"', project)
    assert len(named) == 4
    for name, oldest in named:
        assert re.search(rf"^{name}=={re.escape(oldest)}\.", tested, re.MULTILINE), name


def test_the_reference_is_that_of_the_docstrings():
    subprocess.run([sys.executable, ROOT / "python/reference.py", "--check"], check=True)


def said(notebook):
    """The printed text of each cell of code, and its value as text."""
    return {
        cell.id: "".join(
            output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.outputs
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


def test_the_notebook_says_what_it_shows():
    notebook = nbformat.read(EXAMPLES / "texts_to_path.ipynb", as_version=4)
    shown = said(notebook)
    place = {"metadata": {"path": str(EXAMPLES)}}
    NotebookClient(notebook, timeout=300, resources=place).execute()
    assert said(notebook) == shown
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 3


def test_the_gallery_draws_the_picture_of_the_page(tmp_path):
    drawn = tmp_path / "gallery.svg"
    subprocess.run([sys.executable, EXAMPLES / "gallery.py", drawn], check=True)
    pictures = [drawn, ROOT / "docs/figures/python.svg"]
    own, kept = (re.findall(r"<text[^>]*>([^<]*)<", each.read_text()) for each in pictures)
    assert own == kept


def test_an_interrupt_ends_a_fit_and_the_kernel_goes_on():
    cells = [nbformat.v4.new_code_cell(code) for code in (LONG_FIT, "print(X.shape)")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    begun = []

    async def interrupt(cell, cell_index, **_):
        async def signal():
            while not cell.outputs:
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.5)
            await client.km.interrupt_kernel()

        if cell_index == 0:
            begun.append(asyncio.ensure_future(signal()))

    client = NotebookClient(notebook, timeout=300, on_cell_execute=interrupt)
    with client.setup_kernel():
        with pytest.raises(CellExecutionError, match="KeyboardInterrupt"):
            client.execute_cell(cells[0], 0)
        client.execute_cell(cells[1], 1)
    assert cells[1].outputs[0]["text"] == "(4000, 3000)\n"

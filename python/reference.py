"""Writes REFERENCE.md from the docstrings of the package. `--check` only says whether it is
old.

Reads the sources, so nothing has to be installed. Lists the methods that a class inherits from
classes of the package.
"""

import ast
import itertools
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE / "REFERENCE.md"
PARTS = {
    "Selection": ["GreedyRankRLS", "GreedyRankRLSCV", "SelectionPath", "Step", "TuneStep"],
    "Training on all columns": ["RankRLS", "Explanation"],
    "Files": ["read", "write", "RankingData"],
    "Measures: `rankrls.metrics`": ["evaluate", "paired", "score", "Measured", "Comparison"],
    "Pictures: `rankrls.plot`": ["path", "tuning", "comparison"],
}
TABLES = {"Parameters": "parameter", "Attributes": "attribute"}


def definitions():
    """Classes and functions of the package by name."""
    files = sorted((HERE / "rankrls").glob("*.py"))
    trees = [ast.parse(file.read_text(), str(file)) for file in files]
    kinds = (ast.ClassDef, ast.FunctionDef)
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, kinds)}


def marked(text):
    """Text of a docstring as Markdown."""
    return re.sub(r" ?\[1\]_", "", text.replace("``", "`"))


def cell(lines):
    """Lines of a docstring as a cell of a table."""
    return marked(" ".join(line.strip() for line in lines if line.strip())).replace("|", "\\|")


def sections(docstring):
    """The text before the first heading, and the lines below each heading."""
    found, name = {"": []}, ""
    lines = docstring.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch("-{3,}", after):
            name = line
            found[name] = []
        elif not re.fullmatch("-{3,}", line):
            found[name].append(line)
    return found


def entries(lines):
    """`name : type` and the indented lines below it."""
    found = []
    for line in lines:
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            found.append((name, kind, []))
        elif line.strip():
            found[-1][2].append(line)
    return found


def table(title, rows):
    """Names, types and meanings as a table."""
    yield f"| {title} | type | meaning |"
    yield "|---|---|---|"
    for name, kind, lines in rows:
        yield f"| `{name}` | {cell([kind])} | {cell(lines)} |"
    yield ""


def described(node, fields=()):
    """The docstring of a class or function as Markdown."""
    found = sections(ast.get_docstring(node) or "")
    yield from marked("\n".join(found.pop(""))).strip().splitlines()
    yield ""
    if fields:
        yield from table("field", fields)
    for name, lines in found.items():
        if name in TABLES:
            yield from table(TABLES[name], entries(lines))
        elif name in ("Returns", "Raises"):
            told = [f"{name} {kind}: {cell(below)}" for name, kind, below in entries(lines)]
            told = [text.replace(" : ", ": ").strip() for text in told]
            yield f"**{name}** " + "; ".join(told)
            yield ""
        elif name == "Examples":
            yield from ["```python", *"\n".join(lines).strip().splitlines(), "```", ""]
        else:
            text = " ".join(line.strip() for line in lines).replace(".. [1]", "").strip()
            yield from [f"*{name}*: {marked(text)}", ""]


def signature(node):
    """A function with its parameters and defaults, without types."""
    arguments = ast.parse(ast.unparse(node)).body[0].args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for each in [*named, arguments.vararg, arguments.kwarg]:
        if each is not None:
            each.annotation = None
    arguments.args = [own for own in arguments.args if own.arg not in ("self", "cls")]
    return f"{node.name}({ast.unparse(arguments)})"


def members(node, known):
    """Documented methods of a class, and of its base classes in the package."""
    own = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in known:
            own = {**members(known[base.id], known), **own}
    return {
        name: each
        for name, each in own.items()
        if not name.startswith("_") and ast.get_docstring(each) and not is_property(each)
    }


def is_property(node):
    """Whether a method is used like an attribute."""
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


def fields(node):
    """Fields of a named tuple or data class, each with the text below it."""
    for each, below in itertools.pairwise(node.body):
        told = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(each, ast.AnnAssign) and told:
            yield each.target.id, f"`{ast.unparse(each.annotation)}`", [below.value.value]


def page():
    """The lines of the page."""
    known = definitions()
    yield "# The Python package"
    yield ""
    yield "`python python/reference.py` makes this page from the docstrings."
    yield "[Python](../docs/python.md) is the guide."
    yield ""
    for title, names in PARTS.items():
        yield from [f"## {title}", ""]
        for name in names:
            node = known[name]
            if isinstance(node, ast.FunctionDef):
                yield from [f"### {name}", "", f"`{signature(node)}`", "", *described(node)]
                continue
            yield from [f"### {name}", "", *described(node, list(fields(node)))]
            methods = members(node, known)
            for method in sorted(methods.values(), key=lambda each: each.name != "fit"):
                yield from [f"#### `{signature(method)}`", "", *described(method)]


def main():
    """Writes the page, or compares it."""
    new = re.sub(r"\n{3,}", "\n\n", "\n".join(page())).strip() + "\n"
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != new:
            sys.exit("python/REFERENCE.md is old: python python/reference.py writes it anew")
    else:
        PAGE.write_text(new)


if __name__ == "__main__":
    main()

"""Tables in pages of docs/: between the line `<!-- marker -->` and the next `<!-- end`."""


def filled(text, marker, lines):
    """The text of a page with these lines in the part of this marker."""
    begin = f"<!-- {marker} -->\n"
    if begin not in text:
        raise ValueError(f"expected the line {begin!r}")
    before, rest = text.split(begin, 1)
    return before + begin + "\n".join(lines) + "\n" + rest[rest.index("<!-- end") :]


def row(cells):
    return f"| {' | '.join(cells)} |"

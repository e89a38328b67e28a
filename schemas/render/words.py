"""Markdown that the rendered pages share."""

from collections.abc import Iterable, Sequence


def code(text: str) -> str:
    """`text` as code; nothing stays nothing."""
    return f"`{text}`" if text else ""


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with these column heads."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

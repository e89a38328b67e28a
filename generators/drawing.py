"""Draws docs/design/way-of-an-event.svg out of the text beside it: `python -m generators`; a test compares it.

Rows of boxes, one below the other, and arrows between them. Every position follows from the text, so the same text is the same file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

TEXT = Path(__file__).resolve().parents[1] / "docs/design/way-of-an-event.txt"
DRAWING = TEXT.with_suffix(".svg")
#: All lengths are pixels.
WIDTH, MARGIN, BETWEEN_BOXES, BETWEEN_ROWS = 1080, 24, 20, 52
#: Between boxes of a row with an arrow from one to the next: room for the arrow and its label.
FOR_AN_ARROW = 110
HEAD, LINE, PADDING = 56, 19, 14
#: Kind of a row → fill and border: light enough for dark text, with a border that shows on a dark page, too.
KINDS = {
    "source": ("#e8eaed", "#7a8088"),
    "step": ("#d7e6f7", "#3b78b5"),
    "table": ("#fbeed0", "#b5892c"),
    "answer": ("#dcefd9", "#4d9147"),
}
_STYLE = "text{font-family:system-ui,sans-serif;font-size:14px;fill:#1b1f24;text-anchor:middle}.head{font-weight:600}"


@dataclass(frozen=True)
class Box:
    """A box: its lines, the first of which is its heading, and where it lies."""

    lines: tuple[str, ...]
    kind: str
    left: float
    top: float
    width: float
    height: float

    @property
    def centre(self) -> float:
        """Its middle, from the left."""
        return self.left + self.width / 2


@dataclass(frozen=True)
class Arrow:
    """From one box to another; with a label, if it has one."""

    start: str
    end: str
    label: str


def draw(text: str) -> str:
    """The drawing of `text` as SVG. ValueError, with the line, where the text is none."""
    title, rows, arrows = _read(text)
    boxes, height = _placed(rows, arrows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#7a8088"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height:g}" rx="10" fill="#ffffff"/>',
        f'<text x="{WIDTH / 2:g}" y="34" class="head" style="font-size:18px">{escape(title)}</text>',
        *(_line(arrow, boxes) for arrow in arrows),
        *(part for box in boxes.values() for part in _box(box)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _read(text: str) -> tuple[str, list[tuple[str, dict[str, tuple[str, ...]]]], list[Arrow]]:
    """Title; rows, each a kind and the lines of its boxes by name; arrows."""
    title = ""
    rows: list[tuple[str, dict[str, tuple[str, ...]]]] = []
    arrows: list[Arrow] = []
    for number, line in enumerate(text.splitlines(), 1):
        word, _, rest = line.strip().partition(" ")
        if word == "title":
            title = rest
        elif word == "row" and rest in KINDS:
            rows.append((rest, {}))
        elif word == "arrow" and "->" in rest:
            ends, _, label = rest.partition(":")
            start, _, end = ends.partition("->")
            arrows.append(Arrow(start.strip(), end.strip(), label.strip()))
        elif rest.startswith("= ") and rows:
            rows[-1][1][word] = tuple(part.strip() for part in rest.removeprefix("= ").split(" / "))
        elif word and not word.startswith("#"):
            raise ValueError(f"line {number}: {line!r} is no title, row, box or arrow")
    return title, rows, arrows


def _placed(rows: Sequence[tuple[str, dict[str, tuple[str, ...]]]], arrows: Sequence[Arrow]) -> tuple[dict[str, Box], float]:
    """Every box in its place, and the height of all. Boxes of a row share its width, and are as high as the highest of them."""
    boxes: dict[str, Box] = {}
    top = float(HEAD)
    for kind, named in rows:
        between = FOR_AN_ARROW if any({arrow.start, arrow.end} <= named.keys() for arrow in arrows) else BETWEEN_BOXES
        height = PADDING * 2 + LINE * max(map(len, named.values()))
        width = (WIDTH - 2 * MARGIN - between * (len(named) - 1)) / len(named)
        for place, (name, lines) in enumerate(named.items()):
            boxes[name] = Box(lines, kind, MARGIN + place * (width + between), top, width, height)
        top += height + BETWEEN_ROWS
    return boxes, top - BETWEEN_ROWS + MARGIN


def _box(box: Box) -> Iterator[str]:
    fill, border = KINDS[box.kind]
    yield (
        f'<rect x="{box.left:.1f}" y="{box.top:g}" width="{box.width:.1f}" height="{box.height:g}" rx="7" '
        f'fill="{fill}" stroke="{border}" stroke-width="1.5"/>'
    )
    first = box.top + (box.height - LINE * len(box.lines)) / 2 + LINE * 0.74
    for number, line in enumerate(box.lines):
        weight = "" if number else ' class="head"'
        yield f'<text x="{box.centre:.1f}" y="{first + number * LINE:.1f}"{weight}>{escape(line)}</text>'


def _line(arrow: Arrow, boxes: dict[str, Box]) -> str:
    """Level between boxes of one row; else straight down, at the middle of the narrower box."""
    start, end = boxes[arrow.start], boxes[arrow.end]
    if start.top == end.top:
        x, y = start.left + start.width, start.top + start.height / 2
        path, at, anchor = f"M{x:.1f} {y:g}H{end.left - 2:.1f}", ((x + end.left) / 2, y - 8), "middle"
    else:
        x, y = min(start, end, key=lambda box: box.width).centre, start.top + start.height
        path, at, anchor = f"M{x:.1f} {y:g}V{end.top - 2:g}", (x + 10, (y + end.top) / 2 + 4), "start"
    label = f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" style="font-size:12px;text-anchor:{anchor}">{escape(arrow.label)}</text>'
    line = f'<path d="{path}" fill="none" stroke="#7a8088" stroke-width="1.5" marker-end="url(#tip)"/>'
    return line + label if arrow.label else line

"""The pages of documentation, taken apart for tests: lines, prose, commands, links, anchors."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README, DOCS = ROOT / "README.md", ROOT / "docs"
#: The page with all pages.
CONTENTS = DOCS / "README.md"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
GUIDE, REFERENCE, DESIGN = (DOCS / shelf for shelf in ("guide", "reference", "design"))
GLOSSARY, ARCHITECTURE = REFERENCE / "glossary.md", DESIGN / "architecture.md"
RUNBOOK, OPERATIONS = GUIDE / "runbook.md", GUIDE / "operations.md"
#: Those that nobody writes by hand.
GENERATED = tuple(REFERENCE / f"{name}.md" for name in ("by-question", "commands", "event-log", "settings", "tables", "views"))
#: Pages in the plain English of the house: short lines, the field's words.
PLAIN_PAGES = [*(page for page in PAGES if page not in GENERATED), REFERENCE / "event-log.md"]

_FENCE = "```"
_COMMAND = re.compile(r"^ *\./spark-submit\.sh (?!set-up)(.+)$")


@cache
def text_of(page: Path) -> str:
    """The page as it is."""
    return page.read_text(encoding="utf-8")


def lines_outside_code(text: str) -> Iterator[tuple[int, str]]:
    """(number from 1, line) of what is not in a fenced block of code."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(_FENCE):
            in_code = not in_code
        elif not in_code:
            yield number, line


def prose(text: str) -> str:
    """The text without code: neither fenced blocks nor `spans`."""
    return re.sub(r"``.+?``|`[^`\n]*`", "", "\n".join(line for _, line in lines_outside_code(text)))


def command_lines(text: str) -> list[str]:
    """What follows ./spark-submit.sh in examples (in code and help), one line each; without `set-up`, which is the script's own.

    A command goes on over lines that end with a backslash, and inside of quotes.
    """
    commands, lines = [], iter(text.splitlines())
    for line in lines:
        found = _COMMAND.match(line)
        if found is None:
            continue
        command = found.group(1)
        while command.endswith("\\") or not _is_closed(command):
            command = f"{command.removesuffix(chr(92))} {next(lines).strip()}"
        commands.append(command)
    return commands


def _is_closed(command: str) -> bool:
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return False
    return True


def words_of(command: str) -> list[str]:
    """The words that the program gets: without comments, and without where its output goes."""
    words = shlex.split(command, comments=True)
    return words[: words.index(">")] if ">" in words else words


def queries(text: str) -> list[str]:
    """The SQL of every `sql` command."""
    return [words[1] for words in map(words_of, command_lines(text)) if words[0] == "sql"]


@cache
def anchors(text: str) -> set[str]:
    """Anchors of the headings, as GitHub makes them."""
    slugs, seen = set(), Counter[str]()
    for _, line in lines_outside_code(text):
        found = re.match(r"^#+ (.+)$", line)
        if found:
            slug = re.sub(r"[^\w\- ]", "", found.group(1).lower()).replace(" ", "-")
            slugs.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return slugs


@cache
def links(text: str) -> list[tuple[str, str]]:
    """(file, anchor) of every relative link, each empty where the link has none."""
    targets = re.findall(r"\]\(([^)\s]+)\)", "\n".join(line for _, line in lines_outside_code(text)))
    parts = [target.partition("#") for target in targets if "://" not in target]
    return [(file, anchor) for file, _, anchor in parts]

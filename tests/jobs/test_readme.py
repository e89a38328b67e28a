"""Command lines in the README, the help and the docs: the words and options exist, linked files too. Queries are run by other tests."""

import re
import shlex
from pathlib import Path

import pytest

from jobs.cli import COMMANDS, EXAMPLES, build_parser, command_module, command_of
from pipeline.settings import known_keys

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: Spark's options in our examples; spark-submit.sh takes them out of the line.
SPARKS = ("--master", "--conf")


def command_lines(text: str) -> list[str]:
    """What follows ./spark-submit.sh on lines of examples (in code blocks and help), but for `set-up`, which is the script's own."""
    return re.findall(r"^ *\./spark-submit\.sh (?!set-up)(.+)$", text, re.MULTILINE)


HELP = "\n".join([EXAMPLES, *(command_module(name).EXAMPLES for name in COMMANDS)])
LINES = sorted({line for page in (HELP, *(path.read_text(encoding="utf-8") for path in PAGES)) for line in command_lines(page)})


def without_sparks(words: list[str]) -> list[str]:
    """The words that our own parser gets."""
    ours, following = [], iter(words)
    for word in following:
        if word in SPARKS:
            next(following)
        else:
            ours.append(word)
    return ours


def test_there_are_command_lines_of_every_command() -> None:
    assert {command_of(shlex.split(line, comments=True)) for line in LINES} >= set(COMMANDS)


@pytest.mark.parametrize("line", LINES)
def test_a_shown_command_line_is_understood(line: str) -> None:
    words = without_sparks(shlex.split(line, comments=True))
    args = build_parser(command_of(words)).parse_args(words)
    assert {override.split("=")[0] for override in getattr(args, "overrides", [])} <= known_keys().keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_linked_files_exist(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_a_setting_named_for_the_environment_exists() -> None:
    named = re.findall(r"DISPATCH_ANALYTICS__(\w+?)__(\w+)=", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert named
    assert {f"{section}.{key}".lower() for section, key in named} <= known_keys().keys()

"""Command lines in the README, the help and the docs: the words and options exist. Queries are run by other tests."""

import re

import pytest
from docs_pages import OPERATIONS, PAGES, command_lines, text_of, words_of

from console.command_line import COMMANDS, EXAMPLES, build_parser, command_module, command_of
from generators import commands_page
from pipeline.settings import known_keys

#: Spark's options in our examples; spark-submit.sh takes them out of the line.
SPARKS = ("--master", "--conf")


HELP = "\n".join([EXAMPLES, *(command_module(name).EXAMPLES for name in COMMANDS)])
LINES = sorted({line for page in (HELP, *map(text_of, PAGES)) for line in command_lines(page)})


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
    assert {command_of(words_of(line)) for line in LINES} >= set(COMMANDS)


@pytest.mark.parametrize("line", LINES)
def test_a_shown_command_line_is_understood(line: str) -> None:
    words = without_sparks(words_of(line))
    args = build_parser(command_of(words)).parse_args(words)
    assert {override.split("=")[0] for override in getattr(args, "overrides", [])} <= known_keys().keys()


def test_a_setting_named_for_the_environment_exists() -> None:
    named = re.findall(r"DISPATCH_ANALYTICS__(\w+?)__(\w+)=", text_of(OPERATIONS))
    assert named
    assert {f"{section}.{key}".lower() for section, key in named} <= known_keys().keys()


def test_the_page_of_commands_is_what_is_declared() -> None:
    assert commands_page.DOCUMENT.read_text(encoding="utf-8") == commands_page.render(), "run: python -m generators"


def test_every_command_is_in_one_group() -> None:
    assert sorted(name for names in commands_page.GROUPS.values() for name in names) == sorted(COMMANDS)

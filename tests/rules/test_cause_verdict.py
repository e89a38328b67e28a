"""What the cause is follows from rows that nobody changes on the way, in the order of docs/design/causes.md. See test_causes.py, too."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from pipeline.rules.cause import stalls, verdict, watching
from pipeline.rules.compiled import numba
from schemas.packages.cause.causes import CAUSES

ROOT = Path(__file__).parents[2]
is_rule = numba.core.dispatcher.Dispatcher


def reached_from(rules: list[Any]) -> dict[str, Any]:
    """These rules and all that they call, by their names."""
    found: dict[str, Any] = {}
    while rules:
        rule = rules.pop().py_func
        if rule.__qualname__ not in found:
            found[rule.__qualname__] = rule
            rules += [other for name in rule.__code__.co_names if isinstance(other := rule.__globals__.get(name), is_rule)]
    return found


def of_module(module: Any) -> list[Any]:
    """The rules that a module has itself."""
    return [rule for rule in vars(module).values() if isinstance(rule, is_rule) and rule.__module__ == module.__name__]


def changed(function: Any) -> list[str]:
    """What the function assigns to fields of rows, or to elements of arrays."""
    tree = ast.parse(inspect.getsource(function))
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del)
    ]


@pytest.mark.parametrize("module", [verdict, stalls])
def test_the_cause_is_read_from_rows_and_changes_none(module: Any) -> None:
    reached = reached_from(of_module(module))
    assert len(reached) > 10
    assert {name: changes for name, function in reached.items() if (changes := changed(function))} == {}


def test_a_rule_that_changes_a_row_is_seen() -> None:
    assert changed(watching.watch.py_func) == ["cursor.look_at", "cursor.look_at"]


def test_the_cause_knows_no_hint_of_when_to_look_again() -> None:
    assert "watching" not in {function.__module__.rpartition(".")[2] for function in reached_from(of_module(verdict)).values()}


def test_causes_are_asked_for_in_the_order_of_the_page() -> None:
    page = (ROOT / "docs/design/causes.md").read_text(encoding="utf-8").partition("## The causes, in order of precedence")[2]
    documented = dict.fromkeys(re.findall(r"^\| `(\w+)`", page.partition("\n## ")[0], re.MULTILINE))
    source = inspect.getsource(verdict.cause_of.py_func).partition('"""\n')[2]
    asked = [name.lower() for name in dict.fromkeys(re.findall(r"\b[A-Z_]{5,}\b", source)) if name.lower() in CAUSES]
    assert asked == [cause for cause in documented if cause not in ("unknown", "reading", "stuck")]

"""What is demanded of a table, out of its declaration. No Spark."""

from importlib.resources import files
from pathlib import Path

import pytest

from pipeline.upkeep.quality.invariants import INVARIANTS, NAMES, Invariant
from pipeline.upkeep.quality.rules import Rule, rule_of_check, rules_of
from schemas.field import Field, Table
from schemas.tables import JOB_TABLES, TABLES, TABLES_BY_NAME

ROWS = Table(
    "rows",
    "",
    grain=("place", "day"),
    grain_where="day > 0",
    fields=(
        Field("place", "string", "", nullable=True),
        Field("day", "long", "", check="day >= 0"),
        Field("size", "string", "", nullable=True, check="size IN ('s', 'm')"),
    ),
)


def test_a_table_s_rules_are_its_nulls_its_checks_and_its_key() -> None:
    assert rules_of(ROWS) == (
        Rule("not_null", ("day",)),
        Rule("range", ("day",), least=0),
        Rule("set", ("size",), values=("s", "m")),
        Rule("key", ("place", "day"), where="day > 0"),
    )


@pytest.mark.parametrize(
    ("check", "least", "greatest", "above", "words"),
    [
        ("x >= 0", 0, None, False, "x >= 0"),
        ("x > 0", 0, None, True, "x > 0"),
        ("x <= 7", None, 7, False, "x <= 7"),
        ("x >= -1 AND x <= 1", -1, 1, False, "x >= -1 and x <= 1"),
    ],
)
def test_a_check_with_bounds_is_a_range(check: str, least: int | None, greatest: int | None, above: bool, words: str) -> None:
    rule = rule_of_check(Field("x", "long", "", check=check))
    assert rule == Rule("range", ("x",), least, greatest, above)
    assert rule.words == words


@pytest.mark.parametrize("check", ["x < 3", "x >= 0 OR x = -1", "y >= 0", "y IN ('a')", "length(x) > 3", "x >= 0 AND y >= 0"])
def test_a_check_that_is_neither_range_nor_set_is_refused_not_skipped(check: str) -> None:
    with pytest.raises(ValueError, match="cannot read the check"):
        rule_of_check(Field("x", "long", "", check=check))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_declared_demand_has_a_rule(table: Table) -> None:
    rules = rules_of(table)
    assert {rule.columns[0] for rule in rules if rule.kind == "not_null"} == {f.name for f in table.fields if not f.nullable}
    assert {f.name for f in table.fields if f.check} <= {rule.columns[0] for rule in rules if rule.kind in ("range", "set")}
    assert [rule.columns for rule in rules if rule.kind == "key"] == [table.grain]
    assert len({(rule.kind, rule.columns) for rule in rules}) == len(rules)


def test_bronze_is_held_against_the_contract_of_the_log() -> None:
    words = {rule.words for rule in rules_of(TABLES_BY_NAME["dispatch_events"])}
    assert {
        "v >= 1 and v <= 1",
        "seq >= 1 and seq <= 9223372036854775806",
        "sub_type is one of Exclusive, Shared, Failover, Key_Shared",
        "entry >= -1",
        "(source_file, source_line, broker, epoch, seq, ingest_batch) occurs once where source_line > 0 OR source_file LIKE 'kafka:%'",
    } <= words


def test_the_invariants_are_the_files_beside_the_code() -> None:
    assert sorted(f"{name}.sql" for name in NAMES) == sorted(
        entry.name for entry in files("pipeline.upkeep.quality").joinpath("invariants").iterdir()
    )


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda invariant: invariant.name)
def test_a_invariant_says_in_a_sentence_what_holds_and_what_a_row_is(invariant: Invariant) -> None:
    assert invariant.sentence.endswith(".")
    assert invariant.sql.splitlines()[1].startswith("-- ")
    assert invariant.tables


def test_the_page_has_every_invariant_with_its_sentence() -> None:
    page = (Path(__file__).parents[2] / "docs/guide/quality.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("| `")] == [
        f"| `{invariant.name}` | {invariant.sentence} |" for invariant in INVARIANTS
    ]


def test_the_invariants_know_every_table() -> None:
    assert {t.name for t in JOB_TABLES} - {name for invariant in INVARIANTS for name in invariant.tables} == set()

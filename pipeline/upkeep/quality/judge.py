"""Judges a consistent cut of a warehouse: every table by its suite, then the invariants."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pipeline.faults import BadWarehouse
from pipeline.upkeep.quality.expectations import expectation_of, no_rows
from pipeline.upkeep.quality.finding import Finding, example_text
from pipeline.upkeep.quality.invariants import INVARIANTS, Invariant
from pipeline.upkeep.quality.measures import Measure, invariant_measure, table_measures
from pipeline.upkeep.quality.rules import Rule, rules_of
from pipeline.upkeep.quality.validation import Validation
from pipeline.warehouse.cut import Cut
from pipeline.warehouse.look import Look
from schemas.field import Table
from schemas.tables import JOB_TABLES

MANIFEST = "batch_manifest"


def judge(look: Look, cut: Cut, tables: Collection[str], validation: Validation) -> Iterator[Finding]:
    """Every finding on the tables that are named, and on each invariant that reads none but them.

    `look` reads all of them as of `cut`, so a job may write meanwhile. Raises BadWarehouse if a table lacks a declared column.
    """
    versions = _versions(cut)
    for table in JOB_TABLES:
        if table.name in tables:
            yield from judge_table(look, table, validation, {table.name: versions[table.name]})
    for invariant in INVARIANTS:
        if set(invariant.tables) <= set(tables):
            yield judge_invariant(look, invariant, validation, {name: versions[name] for name in invariant.tables})


def judge_table(look: Look, table: Table, validation: Validation, versions: Mapping[str, str]) -> list[Finding]:
    """A finding per rule of the table."""
    missing = set(table.names) - set(look.columns(table.name))
    if missing:
        raise BadWarehouse(
            f"table {table.name} lacks {', '.join(sorted(missing))}: another version of this project made it; "
            "./spark-submit.sh stream shows how to compute it anew"
        )
    rules = rules_of(table)
    measures = table_measures(look, table, rules)
    results = validation.validate(table.name, [expectation_of(rule) for rule in rules], measures)
    return [_finding(table, rule, measure, result, versions) for rule, measure, result in zip(rules, measures, results, strict=True)]


def judge_invariant(look: Look, invariant: Invariant, validation: Validation, versions: Mapping[str, str]) -> Finding:
    """The finding on an invariant."""
    measure = invariant_measure(look, invariant)
    (result,) = validation.validate(invariant.name, [no_rows()], [measure])
    return Finding(
        table_name=", ".join(invariant.tables),
        kind="invariant",
        columns="",
        invariant=invariant.name,
        expectation=result.expectation_config.type,
        demand=invariant.sentence,
        success=bool(result.success),
        unexpected=measure.broken,
        example=_example(measure),
        table_versions=versions,
    )


def _finding(table: Table, rule: Rule, measure: Measure, result: Any, versions: Mapping[str, str]) -> Finding:
    return Finding(
        table_name=table.name,
        kind=rule.kind,
        columns=", ".join(rule.columns),
        invariant="",
        expectation=result.expectation_config.type,
        demand=rule.words,
        success=bool(result.success),
        unexpected=measure.broken,
        example=_example(measure),
        table_versions=versions,
    )


def _example(measure: Measure) -> str | None:
    return example_text(measure.examples[0]) if measure.examples else None


def _versions(cut: Cut) -> dict[str, str]:
    """What was read of every table, as text: batch_manifest is cut by its rows."""
    newest = {"ingest": cut.ingest, "lanes": cut.lanes}
    read = ", ".join(f"{query} {batch.batch_id}" for query, batch in newest.items() if batch)
    return {**{name: str(version) for name, version in cut.versions.items()}, MANIFEST: read or "no micro-batch"}

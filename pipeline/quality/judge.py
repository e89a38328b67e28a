"""Judges a consistent cut of a warehouse: every table by its suite, then the laws."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pipeline.faults import BadWarehouse
from pipeline.quality.expectations import expectation_of, no_rows
from pipeline.quality.laws import LAWS, Law
from pipeline.quality.rules import Rule, rules_of
from pipeline.quality.validation import Validation
from pipeline.quality.verdict import Verdict, example_text
from pipeline.views.register import register_reports, register_tables
from pipeline.warehouse.cut import Cut
from pipeline.warehouse.layout import Warehouse
from schemas.field import Table
from schemas.tables import JOB_TABLES
from schemas.tables.backfills import BACKFILLS

MANIFEST = "batch_manifest"


def judge(spark: SparkSession, warehouse: Warehouse, cut: Cut, tables: Collection[str], validation: Validation) -> Iterator[Verdict]:
    """Every verdict on the tables that are named, and on each law that reads none but them.

    All of them are read as of `cut`, so a job may write meanwhile. Makes the job's tables temporary views of the session. Raises
    BadWarehouse if a table is missing or lacks a declared column.
    """
    register_tables(spark, warehouse, cut, tables)
    register_reports(spark, warehouse, [BACKFILLS.name])  # some laws ask what was computed anew
    versions = _versions(cut)
    for table in JOB_TABLES:
        if table.name in tables:
            yield from judge_table(spark.table(table.name), table, validation, {table.name: versions[table.name]})
    for law in LAWS:
        if set(law.tables) <= set(tables):
            yield judge_law(spark.sql(law.sql), law, validation, {name: versions[name] for name in law.tables})


def judge_table(rows: DataFrame, table: Table, validation: Validation, versions: Mapping[str, str]) -> list[Verdict]:
    """A verdict per rule of the table."""
    missing = set(table.names) - set(rows.columns)
    if missing:
        raise BadWarehouse(
            f"table {table.name} lacks {', '.join(sorted(missing))}: another version of this project made it; "
            "./spark-submit.sh stream shows how to compute it anew"
        )
    rules = rules_of(table)
    results = validation.validate(table.name, rows, [expectation_of(rule, number) for number, rule in enumerate(rules)])
    return [_verdict(table, rule, result, versions) for rule, result in zip(rules, results, strict=True)]


def judge_law(broken: DataFrame, law: Law, validation: Validation, versions: Mapping[str, str]) -> Verdict:
    """The verdict on a law; `broken` are the rows that violate it, computed once."""
    broken = broken.persist()
    try:
        (result,) = validation.validate(law.name, broken, [no_rows()])
        first = None if result.success else broken.first()
    finally:
        broken.unpersist()
    return Verdict(
        table_name=", ".join(law.tables),
        kind="law",
        columns="",
        law=law.name,
        expectation=result.expectation_config.type,
        demand=law.sentence,
        success=bool(result.success),
        unexpected=0 if result.success else int(result.result["observed_value"]),
        example=None if first is None else example_text(first.asDict(recursive=True)),
        table_versions=versions,
    )


def _verdict(table: Table, rule: Rule, result: Any, versions: Mapping[str, str]) -> Verdict:
    example = None
    if not result.success:
        row = result.result["unexpected_rows"][0]
        example = example_text({name: row[name] for name in dict.fromkeys((*table.grain, *rule.columns))})
    return Verdict(
        table_name=table.name,
        kind=rule.kind,
        columns=", ".join(rule.columns),
        law="",
        expectation=result.expectation_config.type,
        demand=rule.words,
        success=bool(result.success),
        unexpected=0 if result.success else int(result.result["unexpected_count"]),
        example=example,
        table_versions=versions,
    )


def _versions(cut: Cut) -> dict[str, str]:
    """What was read of every table, as text: batch_manifest is cut by its rows."""
    newest = {"ingest": cut.ingest, "lanes": cut.lanes}
    read = ", ".join(f"{query} {batch.batch_id}" for query, batch in newest.items() if batch)
    return {**{name: str(version) for name, version in cut.versions.items()}, MANIFEST: read or "no micro-batch"}

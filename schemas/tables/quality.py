"""What the quality job found, kept over its runs."""

from schemas.field import Field, Table

#: What an expectation demands: a value that is there, in a range, of a set; a key once; or an invariant that rows of several tables keep together.
KINDS = ("not_null", "range", "set", "key", "invariant")

QUALITY_RESULTS = Table(
    "quality_results",
    "One row per run of the quality job and expectation: the demand on a table, or on several by an invariant, and whether it holds.",
    grain=("run_id", "table_name", "kind", "columns", "invariant"),
    fields=(
        Field("run_id", "string", "run of the quality job"),
        Field("run_at", "timestamp", "when it began, by its clock"),
        Field("table_name", "string", "table that was judged; of an invariant the tables that it reads, with commas between"),
        Field("kind", "string", "kind of demand", check="kind IN (" + ", ".join(f"'{kind}'" for kind in KINDS) + ")"),
        Field("columns", "string", "column, or the key's columns with commas between; empty for invariants"),
        Field("invariant", "string", "name of the invariant; empty for others"),
        Field("expectation", "string", "name of the expectation in Great Expectations"),
        Field("demand", "string", "the demand, in words or SQL"),
        Field("success", "boolean", "it holds"),
        Field("unexpected", "long", "rows that break it; of a key: rows that share theirs with another", "rows", check="unexpected >= 0"),
        Field("example", "string", "one of them, as JSON: its key and the columns in question; null: none", nullable=True),
        Field("table_versions", "map<string,string>", "Delta version of every table that was read; of batch_manifest the newest micro-batches read, as 'ingest 7, lanes 9'"),
        Field("code_version", "string", "version of this project"),
    ),
)  # fmt: skip

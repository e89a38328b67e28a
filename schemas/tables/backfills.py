"""What backfills found and changed, kept over their runs."""

from schemas.field import Field, Table

#: Why dates were computed anew: somebody asked, events came late for them, or what they begin from was changed by a backfill.
#: `live` is in rows of versions before alone: nobody can compute this table again.
REASONS = ("asked", "late", "carried", "live")

BACKFILLS = Table(
    "backfills",
    "One row per run of `backfill`, broker, range of dates and table: the difference between the computed rows and the rows that were there.",
    grain=("run_id", "broker", "first_date", "table_name"),
    fields=(
        Field("run_id", "string", "run of `backfill`"),
        Field("began_at", "timestamp", "when the run began, by its clock"),
        Field("finished_at", "timestamp", "when these dates were done, by its clock"),
        Field("broker", "string", "broker"),
        Field("first_date", "date", "first UTC date that was computed anew"),
        Field("last_date", "date", "last one"),
        Field("reason", "string", "asked: by --from and --to; late: events had come late; carried: the state from which they begin had been changed; "
              "live: a version before computed them though they were not over",
              check="reason IN (" + ", ".join(f"'{reason}'" for reason in REASONS) + ")"),
        Field("table_name", "string", "table that was compared"),
        Field("rows_found", "long", "rows of the dates that were there", "rows", check="rows_found >= 0"),
        Field("rows_computed", "long", "rows of the dates now", "rows", check="rows_computed >= 0"),
        Field("added", "long", "rows whose key was not there", "rows", check="added >= 0"),
        Field("removed", "long", "rows whose key is there no more", "rows", check="removed >= 0"),
        Field("changed", "long", "rows of a key that differ", "rows", check="changed >= 0"),
        Field("based_on", "long", "version of the table that was compared"),
        Field("dry_run", "boolean", "the run reported the differences, and changed nothing"),
        Field("swapped", "boolean", "rows were replaced; false: nothing differed, or dry_run"),
        Field("ingest_batch", "long", "newest micro-batch of ingest whose events counted"),
        Field("code_version", "string", "version of this project"),
        Field("rules", "string", "fingerprint of the rules' sources"),
        Field("settings", "map<string,string>", "the settings of lanes"),
    ),
)  # fmt: skip

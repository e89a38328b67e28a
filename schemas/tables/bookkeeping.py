"""The pipeline's own books: names of ids, files read, control of lanes, what each batch wrote."""

from schemas.field import Field, Table

NAMES = Table(
    "names",
    "Text of every id. Two texts with one id stop ingest.",
    grain=("id",),
    fields=(
        Field("id", "long", "broker_id, topic_id or sub_id"),
        Field("level", "string", "the kind of thing that the id names", check="level IN ('broker', 'topic', 'subscription')"),
        Field("broker", "string", "broker; null unless level is broker", nullable=True),
        Field("topic", "string", "topic; null if level is broker", nullable=True),
        Field("subscription", "string", "subscription; null unless level is subscription", nullable=True),
    ),
)

INGEST_FILES = Table(
    "ingest_files",
    "One row per file that was read. A file that grew after it was read has a second row. A file that was read while a collector wrote it "
    "has a row for each part, and one for the rest. A topic of Kafka has a row per partition and micro-batch.",
    grain=("source_file", "fault"),
    # A topic that was made anew has the same offsets again.
    grain_where="source_file NOT LIKE 'kafka:%'",
    fields=(
        Field("source_file", "string", "URI of the file; of a part URI?bytes=FROM-TO; of Kafka kafka:TOPIC/PARTITION?offsets=FIRST-LAST"),
        Field("bytes", "long", "its length when it was listed; of a part its length; of Kafka the length of the records' values",
              "bytes"),
        Field("lines", "long", "lines in it that are not blank, and one for a truncation", check="lines >= 0"),
        Field("fault", "string", "'none', 'truncated' (ends inside its compressed stream) or 'grew' (longer than when it was read)",
              check="fault IN ('none', 'truncated', 'grew')"),
        Field("ingest_batch", "long", "micro-batch of the ingest query"),
    ),
)  # fmt: skip

LANE_CONTROL = Table(
    "lane_control",
    "Second source of the lanes query: wakes idle lanes, reports rejected lines to them.",
    grain=("broker_id", "kind", "epoch", "seq", "ns", "issued_at"),
    fields=(
        Field("broker_id", "long", "lane"),
        Field("kind", "string", "drain: the log is finite and ends here; tombstone: a rejected line's place",
              check="kind IN ('drain', 'tombstone')"),
        Field("epoch", "long", "tombstone: its epoch, else 0"),
        Field("seq", "long", "tombstone: its seq, else 0"),
        Field("ts", "long", "tombstone: its ts (µs), else 0"),
        Field("ns", "long", "tombstone: its ns, else 0"),
        Field("ingest_batch", "long", "newest ingest micro-batch when the row was written"),
        Field("issued_at", "timestamp", "when, by the driver's clock"),
    ),
)  # fmt: skip

BATCH_MANIFEST = Table(
    "batch_manifest",
    "One row per micro-batch that wrote anything, written after its tables: counts of input and output, and the version of every table.",
    grain=("query", "query_id", "batch_id"),
    fields=(
        Field("query", "string", "which query", check="query IN ('ingest', 'lanes')"),
        Field("query_id", "string", "Spark's id of the query, as in its checkpoint"),
        Field("batch_id", "long", "Spark's number of the micro-batch"),
        Field("source_offsets", "string", "the checkpoint's offset log entry of the batch, whole"),
        Field("rows_in", "long", "ingest: lines that are not blank; lanes: bronze rows and tombstones handed to lanes"),
        Field("bronze", "long", "ingest: rows written to dispatch_events", check="bronze >= 0"),
        Field("quarantined", "long", "ingest: rows written to quarantine; lanes: tombstones applied"),
        Field("applied", "long", "lanes: events applied in order"),
        Field("duplicates", "long", "lanes: repeats of events already applied, late or quarantined"),
        Field("late", "long", "lanes: events that came after their place was given up"),
        Field(
            "held",
            "long",
            "lanes: change in the number of events held behind a gap; summed over batches it is the number of held events",
        ),
        Field("lost", "long", "lanes: events given up as lost"),
        Field("state_bytes", "long", "lanes: size of the state blobs written", "bytes"),
        Field("table_versions", "map<string,string>", "version of every table after the batch: a consistent cut"),
        Field(
            "newest_events",
            "array<struct<broker_id:bigint,epoch:bigint,at:timestamp>>",
            "lanes: the newest applied event of each broker, of this and all earlier micro-batches. Null: ingest, or an earlier version",
            nullable=True,
            added=True,
        ),
        Field("run_id", "string", "driver run that wrote the row"),
        Field("code_version", "string", "version of this project"),
        Field("written_at", "timestamp", "when, by the driver's clock"),
    ),
)

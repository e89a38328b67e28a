"""Which kind of source `--events` is."""

import re
from pathlib import Path
from typing import Protocol

from pipeline.faults import BadConfig
from pipeline.sources import jsonl_files, parquet_files
from pipeline.sources.delta_table import DeltaTableSource
from pipeline.sources.jsonl_files import JsonlFiles
from pipeline.sources.kafka_address import client_settings, is_kafka, kafka_address
from pipeline.sources.kafka_topic import KafkaTopic
from pipeline.sources.listing import visible_files
from pipeline.sources.parquet_files import ParquetFiles
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.place import Place, find_place
from pipeline.sources.source import Source
from pipeline.store.address import with_hadoops_scheme
from pipeline.store.files import files_at


class IngestLimits(Protocol):
    """The settings `ingest.*` that a source obeys (pipeline/settings.py)."""

    @property
    def max_files_per_batch(self) -> int: ...
    @property
    def max_line_bytes(self) -> int: ...
    @property
    def max_text_bytes(self) -> int: ...
    @property
    def quarantine_raw_bytes(self) -> int: ...
    @property
    def source_format(self) -> str: ...


class KafkaLimits(Protocol):
    """The settings `kafka.*` that a source obeys."""

    @property
    def max_records_per_batch(self) -> int: ...
    @property
    def client_path(self) -> Path | None: ...


class SourceSettings(Protocol):
    """The settings of all sources."""

    @property
    def ingest(self) -> IngestLimits: ...
    @property
    def kafka(self) -> KafkaLimits: ...


def parse_limits(ingest: IngestLimits) -> ParseLimits:
    """The limits of the parser, as set."""
    return ParseLimits(ingest.max_line_bytes, ingest.max_text_bytes, ingest.quarantine_raw_bytes)


def open_source(events: str, settings: SourceSettings) -> Source:
    """The source that `events` (--events) names, of the kind in `ingest.source_format`; `auto` looks at what lies there.

    `kafka://…` is a topic.
    A folder with `_delta_log` is a Delta table, one with a *.parquet file anywhere below is Parquet, everything else is JSON lines.
    Raises BadConfig if there is no such folder, or no Delta table where one is asked for.
    """
    events = with_hadoops_scheme(events)  # Spark opens it
    ingest, limits = settings.ingest, parse_limits(settings.ingest)
    if is_kafka(events):
        kafka = settings.kafka
        return KafkaTopic(kafka_address(events), client_settings(kafka.client_path), kafka.max_records_per_batch, limits)
    kind = ingest.source_format
    if kind == "delta" or (kind == "auto" and _is_delta(events)):
        if not _is_delta(events):
            raise BadConfig(
                f"--events {events}: there is no Delta table (ingest.source_format is delta); name the table's folder, not a glob"
            )
        return DeltaTableSource(events, ingest.max_files_per_batch, limits)
    return _source_of_files(events, ingest)


def open_files(events: str, settings: SourceSettings) -> JsonlFiles | ParquetFiles:
    """The same of files only. Raises BadConfig, too, for what is no file: a topic, or a Delta table."""
    ingest = settings.ingest
    if is_kafka(events) or ingest.source_format == "delta" or files_at(events).exists(f"{events.rstrip('/')}/_delta_log"):
        raise BadConfig(f"--events {events}: only files can be loaded; read a topic or a Delta table with `stream --once --drain`")
    return _source_of_files(events, ingest)


def _source_of_files(events: str, ingest: IngestLimits) -> JsonlFiles | ParquetFiles:
    files, limits, kind = files_at(events), parse_limits(ingest), ingest.source_format
    parquet = find_place(files, events, parquet_files.SUFFIXES)
    if kind == "parquet" or (kind == "auto" and _has_parquet(parquet)):
        return ParquetFiles(parquet, ingest.max_files_per_batch, limits)
    return JsonlFiles(find_place(files, events, jsonl_files.SUFFIXES), ingest.max_files_per_batch, limits)


def _is_delta(events: str) -> bool:
    return files_at(events).exists(f"{events.rstrip('/')}/_delta_log")


def _has_parquet(place: Place) -> bool:
    return any(file.path.endswith(parquet_files.SUFFIXES) and re.match(place.wanted, file.path) for file in visible_files(place))

"""Settings of the pipeline: read once by jobs/, checked, frozen, handed down. conf/settings.toml holds every default."""

import difflib
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pipeline.faults import BadConfig, invariant
from schemas.tables import TABLES

ENVIRONMENT_PREFIX = "DISPATCH_ANALYTICS__"
DAY_MS = 86_400_000
_DEFAULTS = "conf/settings.toml"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class IngestSettings(_Section):
    """How the log is read."""

    max_files_per_batch: int = Field(ge=1, description="files that one ingest micro-batch takes at most")
    follow_open_files: Literal["auto", "always", "never"] = Field(
        description="read the whole lines of files that a collector is still writing, in local folders; auto: if there is one when the "
        "job starts, and the warehouse is in no object store; never: wait for finished files"
    )
    max_line_bytes: int = Field(ge=1024, le=1 << 30, description="a longer line is quarantined (text_too_long)")
    max_text_bytes: int = Field(ge=256, le=1 << 30, description="a line with a longer text in it is quarantined (text_too_long)")
    quarantine_raw_bytes: int = Field(ge=0, le=1 << 30, description="how much of a rejected line quarantine keeps")
    source_format: Literal["auto", "jsonl", "parquet", "delta"] = Field(description="format of --events; auto: recognised by its files")
    archive_folder: str = Field(
        min_length=1, description="local folder to which files of --events are moved when they are read; none: they stay where they are"
    )

    @property
    def archive_path(self) -> Path | None:
        """The folder of `archive_folder`; None if files stay."""
        return None if self.archive_folder == "none" else Path(self.archive_folder)


class KafkaSettings(_Section):
    """How a Kafka topic of the log is read (`--events kafka://HOST:PORT/TOPIC`)."""

    max_records_per_batch: int = Field(ge=1, description="records that one ingest micro-batch takes at most, of all partitions")
    on_loss: Literal["stop", "go_on"] = Field(
        description="action of the job at its start if Kafka lost records that were not read: expired ones, or a topic that was made anew"
    )
    client_file: str = Field(
        min_length=1, description="local file of properties for Kafka's clients (security.protocol=SASL_SSL …); none: no file"
    )

    @property
    def client_path(self) -> Path | None:
        """The file of `client_file`; None if there is to be none."""
        return None if self.client_file == "none" else Path(self.client_file)


class LaneSettings(_Section):
    """How a broker's events are put in order and cut into windows."""

    lateness_ms: int = Field(
        ge=1, le=365 * DAY_MS, description="how far a broker's log must have gone on before a gap in it is given up as lost"
    )
    window_ms: int = Field(ge=1000, description="length of the windows of all tables; a whole number of them makes a day")
    clock_step_ms: int = Field(
        ge=1,
        le=365 * DAY_MS,
        description="a jump of the broker's wall clock against its monotonic clock beyond this is a step; without ns: a fall of ts",
    )
    max_bytes_per_batch: str = Field(
        pattern=r"^[1-9][0-9]{0,8}[kmg]$",
        description="bronze that one lanes micro-batch takes at most, in bytes with k, m or g (KiB, MiB, GiB)",
    )

    @field_validator("window_ms")
    @classmethod
    def _divides_a_day(cls, value: int) -> int:
        if value > 0 and DAY_MS % value:
            raise ValueError(f"must divide a day ({DAY_MS} ms) without remainder, so that windows start at the same times every day")
        return value


class StreamSettings(_Section):
    """How the live job runs."""

    trigger_interval_ms: int = Field(
        ge=1, le=DAY_MS, description="a live query starts its next micro-batch this long after the start of the last, at the earliest"
    )
    keep_versions: int = Field(
        ge=100, le=1_000_000, description="newest versions of a table that stay readable while lanes run; on a local file system"
    )


class MaintainSettings(_Section):
    """How the files of the tables are looked after."""

    small_file_bytes: int = Field(ge=1, le=1 << 40, description="a file below this is small: counted by `status`, merged by `maintain`")
    merge_from_files: int = Field(
        ge=2, description="small files that a table must have to be merged; closed dates of dispatch_events are merged from 2 on"
    )
    merged_file_bytes: int = Field(ge=1 << 20, le=1 << 40, description="how large a merged file becomes at most, about")
    keep_days: str = Field(
        pattern=r"^(everything|[a-z_]+:[1-9][0-9]{0,4}(,[a-z_]+:[1-9][0-9]{0,4})*)$",
        description="days for which a table's rows are kept, as dispatch_events:90,quarantine:120; tables not named: for ever",
    )

    @field_validator("keep_days")
    @classmethod
    def _of_tables_that_may_shrink(cls, value: str) -> str:
        days = _days(value)
        may = {table.name for table in TABLES if table.age_by}
        for name in days:
            if name not in may:
                raise ValueError(f"{name} is not a table that may be shortened; those are {', '.join(sorted(may))}")
        if "quarantine" in days and days["quarantine"] < days.get("dispatch_events", math.inf):
            raise ValueError("quarantine must be kept as long as dispatch_events: else rejected lines look like lines that never came")
        return value

    @property
    def days_kept(self) -> dict[str, int]:
        """Table → days of `keep_days`; a table that is not in it is kept for ever."""
        return _days(self.keep_days)


def _days(keep_days: str) -> dict[str, int]:
    pairs = [] if keep_days == "everything" else [part.split(":") for part in keep_days.split(",")]
    return {name: int(days) for name, days in pairs}


class WatchSettings(_Section):
    """Records of a running job about itself."""

    write_interval_ms: int = Field(
        ge=1000,
        le=DAY_MS,
        description="rows of query_progress are gathered for so long and then written in one commit; the rest at the end",
    )
    log_file: str = Field(
        min_length=1,
        description="local file to which the job appends a JSON object per line for each of its records about itself; none: no file",
    )

    @property
    def log_path(self) -> Path | None:
        """The file of `log_file`; None if there is to be none."""
        return None if self.log_file == "none" else Path(self.log_file)


class Settings(_Section):
    """Everything that can be set, by section."""

    ingest: IngestSettings
    kafka: KafkaSettings
    lanes: LaneSettings
    stream: StreamSettings
    maintain: MaintainSettings
    watch: WatchSettings

    def items(self) -> list[tuple[str, Any]]:
        """(section.key, value) of every setting, in declared order."""
        return [(f"{section}.{key}", value) for section, values in self.model_dump().items() for key, value in values.items()]


def known_keys() -> dict[str, Any]:
    """Every section.key with its pydantic field declaration, in declared order."""
    keys: dict[str, Any] = {}
    for section, declaration in Settings.model_fields.items():
        model = declaration.annotation
        invariant(isinstance(model, type) and issubclass(model, BaseModel), f"section {section} is a model")
        keys |= {f"{section}.{key}": field for key, field in model.model_fields.items()}  # type: ignore[union-attr]  # by the invariant above
    return keys


def load_settings(file: Path | None, overrides: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """The effective settings: conf/settings.toml < `file` < `environ` (DISPATCH_ANALYTICS__SECTION__KEY) < `overrides` (section.key=value).

    Raises BadConfig that names the key and where it came from: unknown (with the nearest known key), missing, or with a wrong value.
    """
    values: dict[str, tuple[Any, str]] = {}
    for origin, layer in (
        (_DEFAULTS, _flat(_default_text(), _DEFAULTS)),
        (str(file), _flat(_file_text(file), str(file)) if file else {}),
        ("environment", _from_environment(environ)),
        ("--set", _from_overrides(overrides)),
    ):
        for key, value in layer.items():
            values[_known(key, origin)] = (value, origin)
    tree: dict[str, dict[str, Any]] = {}
    for key, (value, _) in values.items():
        section, name = key.split(".")
        tree.setdefault(section, {})[name] = value
    try:
        return Settings.model_validate(tree)
    except ValidationError as refusal:
        raise BadConfig(_explain(refusal, values)) from refusal


def default_settings() -> Settings:
    """conf/settings.toml alone."""
    return load_settings(None, [], {})


def describe(settings: Settings) -> str:
    """The effective settings, one `section.key = value` per line."""
    width = max(len(key) for key, _ in settings.items())
    return "\n".join(f"  {key:<{width}} = {value}" for key, value in settings.items())


def _default_text() -> str:
    """conf/settings.toml beside the code: a file of the project, or in the zip that was shipped to a cluster (hence the loader)."""
    path = Path(__file__).parent.parent / "conf" / "settings.toml"
    invariant(__spec__ is not None and hasattr(__spec__.loader, "get_data"), "this module was loaded from a file or a zip")
    content: bytes = __spec__.loader.get_data(str(path))  # type: ignore[union-attr]  # by the invariant above
    return content.decode("utf-8")


def _file_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise BadConfig(f"--settings {file}: cannot be read: {fault}") from fault


def _flat(text: str, origin: str) -> dict[str, Any]:
    """section.key → value of a TOML text with one level of sections."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise BadConfig(f"{origin}: not valid TOML: {fault}") from fault
    flat: dict[str, Any] = {}
    for section, content in tree.items():
        flat |= {f"{section}.{key}": value for key, value in content.items()} if isinstance(content, dict) else {section: content}
    return flat


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", "."): value
        for name, value in environ.items()
        if name.startswith(ENVIRONMENT_PREFIX)
    }


def _from_overrides(overrides: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise BadConfig(f"--set {override}: expected section.key=value, as in --set lanes.lateness_ms=5000")
        pairs[key.strip()] = value.strip()
    return pairs


def _known(key: str, origin: str) -> str:
    keys = list(known_keys())
    if key in keys:
        return key
    nearest = difflib.get_close_matches(key, keys, n=1, cutoff=0.0)[0]
    raise BadConfig(f"{origin}: unknown setting {key}; did you mean {nearest}? All settings are in docs/reference/settings.md")


def _explain(refusal: ValidationError, values: Mapping[str, tuple[Any, str]]) -> str:
    """Every refused key in one line: value, where it came from, what is allowed."""
    faults = []
    for error in refusal.errors():
        key = ".".join(str(part) for part in error["loc"])
        if key not in values:
            faults.append(f"{key} is missing")
            continue
        value, origin = values[key]
        faults.append(f"{key} = {value!r} ({origin}): {error['msg'].removeprefix('Value error, ')}")
    return "; ".join(faults)

"""Settings: where values come from, and what is said about wrong ones."""

from pathlib import Path
from typing import Any

import pytest

from generators import settings_page as settings_doc
from pipeline.faults import BadConfig
from pipeline.settings import default_settings, describe, known_keys, load_settings


def test_later_layers_win(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[lanes]\nlateness_ms = 1\nwindow_ms = 2000\nclock_step_ms = 3\n")
    environ = {"DISPATCH_ANALYTICS__LANES__WINDOW_MS": "3000", "DISPATCH_ANALYTICS__LANES__CLOCK_STEP_MS": "4", "PATH": "/bin"}
    lanes = load_settings(file, ["lanes.clock_step_ms=5"], environ).lanes
    assert (lanes.lateness_ms, lanes.window_ms, lanes.clock_step_ms) == (1, 3000, 5)
    assert lanes.max_bytes_per_batch == default_settings().lanes.max_bytes_per_batch


@pytest.mark.parametrize(
    ("overrides", "environ", "words"),
    [
        (["lanes.latenes_ms=1"], {}, ["--set", "lanes.latenes_ms", "did you mean lanes.lateness_ms"]),
        ([], {"DISPATCH_ANALYTICS__INGEST__MAX_LINE": "1"}, ["environment", "ingest.max_line", "ingest.max_line_bytes"]),
        (["lanes.lateness_ms=0"], {}, ["lanes.lateness_ms", "'0'", "--set", "greater than or equal to 1"]),
        (["lanes.window_ms=70000"], {}, ["lanes.window_ms", "'70000'", "divide a day"]),
        (["lanes.window_ms=999"], {}, ["lanes.window_ms", "1000"]),
        (["ingest.source_format=csv"], {}, ["ingest.source_format", "'csv'", "'jsonl'"]),
        (["lanes.max_bytes_per_batch=1.5g"], {}, ["lanes.max_bytes_per_batch", "'1.5g'"]),
        (["stream.trigger_interval_ms=soon"], {}, ["stream.trigger_interval_ms", "'soon'", "integer"]),
        (["maintain.keep_days=names:9"], {}, ["maintain.keep_days", "names is not a table that may be shortened", "topic_backlog"]),
        (["maintain.keep_days=quarantine:9,dispatch_events:10"], {}, ["maintain.keep_days", "quarantine must be kept as long"]),
        (["maintain.keep_days=quarantine:9"], {}, ["quarantine must be kept as long"]),
        (["maintain.keep_days=dispatch_events"], {}, ["maintain.keep_days", "'dispatch_events'"]),
        (["lanes.lateness_ms"], {}, ["expected section.key=value"]),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(overrides: list[str], environ: dict[str, str], words: list[str]) -> None:
    with pytest.raises(BadConfig) as refused:
        load_settings(None, overrides, environ)
    message = str(refused.value)
    assert [word for word in words if word not in message] == []
    assert "\n" not in message


def test_days_are_kept_per_table() -> None:
    assert default_settings().maintain.days_kept == {}
    chosen = load_settings(None, ["maintain.keep_days=dispatch_events:90,quarantine:120"], {})
    assert chosen.maintain.days_kept == {"dispatch_events": 90, "quarantine": 120}


@pytest.mark.parametrize("text", ["lanes = 3", "[lane]\nlateness_ms = 1", "[lanes]\nlateness_ms = [1]", "[lanes"])
def test_a_wrong_settings_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(BadConfig, match=r"mine\.toml"):
        load_settings(file, [], {})


def test_a_missing_settings_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="cannot be read"):
        load_settings(tmp_path / "none.toml", [], {})


def test_settings_are_frozen() -> None:
    lanes: Any = default_settings().lanes
    with pytest.raises(ValueError, match="frozen"):
        lanes.lateness_ms = 1


def test_effective_settings_show_every_key() -> None:
    shown = describe(default_settings())
    assert [key for key in known_keys() if f"{key} " not in shown] == []


def test_the_page_of_settings_is_current() -> None:
    assert settings_doc.DOCUMENT.read_text(encoding="utf-8") == settings_doc.render(), "run: python -m generators"


def test_every_default_has_its_reason() -> None:
    reasons = settings_doc.reasons_of((Path(settings_doc.__file__).parents[1] / "conf" / "settings.toml").read_text(encoding="utf-8"))
    assert sorted(reasons) == sorted(known_keys())
    assert [key for key, reason in reasons.items() if not reason] == []

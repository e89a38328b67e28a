"""docs/design/throttling.md says how well the limiter models agree with real brokers; the figures are these, not somebody's memory."""

from collections import Counter
from pathlib import Path

import pytest
from capture_events import capture_events
from lane_tables import tables_of

DOC = Path(__file__).parents[2] / "docs" / "design" / "throttling.md"
FIGURES = ("compared", "exact", "within_clock_step", "different")


@pytest.mark.captures
def test_the_documented_agreement_is_what_the_captures_give(captures: Path) -> None:
    totals: dict[tuple[str, str], Counter[str]] = {}
    for capture in sorted(path for path in captures.iterdir() if path.is_dir()):
        for row in tables_of(capture_events(capture))["limiter_windows"]:
            totals.setdefault((row["level"], row["limiter"]), Counter()).update({name: row[name] for name in FIGURES})
    lines = {
        f"| {level} | {limiter} | " + " | ".join(f"{found[name]:,}" for name in FIGURES) + " |"
        for (level, limiter), found in totals.items()
    }
    text = DOC.read_text()
    assert [line for line in sorted(lines) if line not in text] == []

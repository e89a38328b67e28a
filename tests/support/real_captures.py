"""The real brokers' logs beside the project: which there are. Without them their tests are skipped; the ones in tests/fixtures stay."""

from pathlib import Path

import pytest

CAPTURES = Path(__file__).resolve().parents[3] / "shared" / "captures"
NAMES = sorted(path.parent.name for path in CAPTURES.glob("*/manifest.json"))
#: Captures of which one alone takes as long as all others: their long tests are marked slow.
LARGE_CAPTURES = CAPTURES.with_name("captures-large")
LARGE_NAMES = sorted(path.parent.name for path in LARGE_CAPTURES.glob("*/manifest.json"))
#: Captures with samples of the broker's figures over time.
TIMED = [name for name in NAMES if (CAPTURES / name / "timeline.jsonl").exists()]
ABSENT = "no captures in shared/captures beside the project"

EVERY_CAPTURE = pytest.mark.parametrize("name", NAMES)
EVERY_LARGE_CAPTURE = pytest.mark.parametrize("name", LARGE_NAMES)
NEEDS_CAPTURES = pytest.mark.skipif(not NAMES, reason=ABSENT)

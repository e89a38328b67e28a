"""Limits of the right size: the search, and a real broker's topic whose limit is half of what is asked for."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.what_if_real import side
from console.command_line import main
from pipeline.what_if.right_size import MOST_DOUBLINGS, PRECISION, smallest

PROMISED = (Path(__file__).parents[2] / "docs/reference/json.md").read_text(encoding="utf-8").partition("## right-size")[2]
KEYS = set(re.findall(r"^\| `limits\[\]\.([a-z_]+)` \|", PROMISED.partition("\n## ")[0], re.MULTILINE))


@given(st.integers(1, 10**6), st.integers(1, 10**9))
def test_the_smallest_that_keeps_is_found_to_one_in_a_hundred(now: int, least: int) -> None:
    found = smallest(lambda limit: limit >= least, now)
    if least > now * 2 ** (MOST_DOUBLINGS - 1):
        assert found is None
    else:
        assert found is not None
        assert least <= found <= least + max(1, PRECISION * found)


def test_none_is_found_where_none_keeps() -> None:
    assert smallest(lambda _: False, 10) is None


def test_a_topic_of_a_real_broker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two subscriptions that get 100 messages/s each share 50/s: they need 200/s, a little less where 5 s may pass."""
    a = side("topic_rate_50_to_200", "a", tmp_path)
    warehouse = a.room.warehouse.root
    assert main(["right-size", "--keep-age", "5s", "--format", "json", "--warehouse", warehouse]) == 1
    (row,) = json.loads(capsys.readouterr().out)["limits"]
    assert set(row) == KEYS
    assert (row["level"], row["dimension"], row["limit"], row["verdict"]) == ("topic", "messages", 50, "too_low")
    assert 150 < row["needed"] < 210
    assert row["oldest_with_needed_s"] <= 5 < row["oldest_s"]
    assert f"-md {row['needed']} -bd -1 -dt 1 {row['topic']}" in row["command"]
    assert main(["right-size", "--keep-age", "60s", "--warehouse", warehouse]) == 1
    assert "its record lasts 74 s, so it shows limits for ages up to 7 s." in capsys.readouterr().out
    assert main(["right-size", "--keep-age", "5s", "--namespace", "no/such", "--warehouse", warehouse]) == 2

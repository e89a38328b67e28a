"""The page of a change: a form without a script, both lives, and the reason where there is no answer."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from loaded import load_into
from served import Served, served

from pipeline.serving.page.what_if_page import FIELDS
from pipeline.what_if import answer
from pipeline.what_if.changes import KEYS
from pipeline.what_if.compare import self_check

EVENTS = Path(__file__).parents[2] / "demo" / "y_incident" / "events.jsonl.gz"
LEDGER = {"topic": "persistent://real/y/payments", "subscription": "ledger"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(load_into(EVENTS, tmp_path_factory.mktemp("what-if-page") / "w")) as made:
        yield made


def page(server: Served, path: str, **asked: str) -> tuple[int, str]:
    return server.get(f"{path}?{urlencode(asked)}")


def words_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", re.sub(r"<(script|svg|style).*?</\1>", "", html, flags=re.S)))).strip()


def test_the_subscription_has_a_form_whose_fields_are_keys(server: Served) -> None:
    status, html = page(server, "/subscription", **LEDGER)
    assert status == 200
    (form,) = re.findall(r'<form class="change" method="get" action="/what-if".*?</form>', html, re.S)
    names = re.findall(r'<input (?:id="[^"]+" |type="hidden" )name="([^"]+)"', form)
    assert names == ["topic", "subscription", *FIELDS]
    assert FIELDS.keys() <= KEYS.keys()


def test_a_filled_form_is_answered(server: Served) -> None:
    """A browser without a script sends the empty fields, too."""
    asked = {**LEDGER, **dict.fromkeys(FIELDS, ""), "subscription.dispatch_rate.messages": "200"}
    status, html = page(server, "/what-if", **asked)
    words = words_of(html)
    assert status == 200
    assert "ledger: 4,310 entries at most, 4,310 at the end; it would have been 146 entries at most" in words
    assert "Then the broker's limit of messages would hold it." in words
    assert 'value="200"' in html
    assert html.count('<figure class="ch"') == 2
    # It does not ask again by itself: each answer is a replay.
    assert "data-live-page" not in html


def test_a_moment_ends_the_compared_time(server: Served) -> None:
    moment = {"from": "2026-11-21T11:47:20", "to": "2026-11-21T11:48:00"}
    status, html = page(server, "/what-if", **LEDGER, **moment, **{"subscription.dispatch_rate.messages": "200"})
    assert status == 200
    assert "1 min" not in words_of(html).partition("Held longest by")[0]
    assert 'name="from" value="2026-11-21T11:47:20Z"' in html


@pytest.mark.parametrize(
    ("asked", "status", "reason"),
    [
        ({**LEDGER, "consumers": "many"}, 400, "consumers=many: expected a whole number from 1 on"),
        ({**LEDGER, "consumers": "2"}, 400, "ledger is Failover: one consumer gets its entries, and more change nothing"),
        ({**LEDGER, "limit": "5"}, 400, "limit: not known here"),
        ({**LEDGER, "quota.age_s.policy": "producer_exception"}, 400, "quota.age_s.policy: no such quota is there"),
        ({"topic": "persistent://no/such/topic"}, 404, "the log has no event of persistent://no/such/topic"),
    ],
)
def test_a_wrong_question_is_one_line(server: Served, asked: dict[str, str], status: int, reason: str) -> None:
    found, html = page(server, "/what-if", **asked)
    assert (found, reason in words_of(html)) == (status, True)


def test_without_an_answer_there_is_the_reason_and_no_prediction(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    other = self_check(np.full((1, 1), 100), np.zeros((1, 1), dtype=np.int64), (0, 0), (0, 0), 0)
    monkeypatch.setattr(answer, "_checked", lambda *_: other)
    status, html = page(server, "/what-if", **LEDGER, **{"subscription.dispatch_rate.messages": "201"})
    words = words_of(html)
    assert status == 200
    assert "No answer. A replay with the settings as they were is not the record: its backlog differs by 100% of what it was." in words
    assert "would be" not in words
    assert "would have been" not in words
    assert "<figure" not in html

"""The pages of `serve`: what their headings answer, hostile names, policy, files that browsers keep, faults as pages, news of changes."""

import asyncio
import re
import shutil
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from loaded import load_into
from page_rows import NOON, why_row
from served import PATIENCE_S, Served, served

from pipeline.diagnosis.answer import answer
from pipeline.pages.badges import LOSING
from pipeline.pages.html import told
from pipeline.query.room import ReadingRoom
from pipeline.serving.answers import Answers, Bounds
from pipeline.serving.asked import key_of
from pipeline.serving.page.frame import Frame, Moment, moment_of, newest_known
from pipeline.serving.page.html import rendered, static, version
from pipeline.serving.page.now import lines
from pipeline.serving.page.now_page import heading
from pipeline.serving.page.now_rows import NowRows
from pipeline.serving.page.partitions import units
from pipeline.serving.page.routes import PAGES, POLICY
from pipeline.serving.page.warm import warm_up
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES_BY_NAME

EVENTS = Path(__file__).parents[2] / "demo" / "y_incident" / "events.jsonl.gz"
#: While the incident of the demo goes on; at the end of its log the broker is stopped, and nothing is known.
AMID = "2026-11-21T11:47:59Z"
EVIL = '"><script>alert(1)</script>\u202e'
BILLING = {"topic": "persistent://real/y/orders", "subscription": "billing"}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return load_into(EVENTS, tmp_path_factory.mktemp("page") / "w")


@pytest.fixture(scope="module")
def server(loaded: Warehouse) -> Iterator[Served]:
    with served(loaded) as made:
        yield made


def words_of(html: str) -> str:
    """Its text, in one line."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", re.sub(r"<(script|svg|style).*?</\1>", "", html, flags=re.S)))).strip()


def heading_of(html: str) -> str:
    found = re.search(r"<h1.*?</h1>", html, re.S)
    assert found is not None
    return words_of(found[0])


def test_a_form_without_a_script_sends_all_fields_and_the_chosen_ones_count() -> None:
    sent = {"at": "2026-11-21T11:00:00", "from": "2026-11-21T10:00:00", "to": "2026-11-21T10:30:00"}
    assert moment_of(sent | {"when": "now"}).at is None
    assert moment_of(sent | {"when": "at"}).at == datetime(2026, 11, 21, 11, tzinfo=UTC)
    assert moment_of(sent | {"when": "range"}) == Moment(datetime(2026, 11, 21, 10, 30, tzinfo=UTC), timedelta(minutes=30), True)
    assert moment_of({"at": "2026-11-21T12:00:00+01:00"}).query == {"at": "2026-11-21T11:00:00Z"}


# ---- Now ------------------------------------------------------------------------------------------------------------------------------


def frame(lost: int = 0) -> Frame:
    return Frame(Moment(None, timedelta(minutes=10), False), "c", [{"broker": "b"}], NOON, lost, None)


def test_a_figure_that_the_tables_lack_is_a_question_mark_and_a_lower_bound_is_marked() -> None:
    (line,) = lines(NowRows([why_row(complete=False)], {}, {}, [], []))
    assert (line.why.figure, line.age_ms, line.next[0], line.least) == ("?", None, "?", True)
    (unknown,) = lines(NowRows([why_row(status="unknown", unknown_reason="events_lost")], {}, {}, [], []))
    assert unknown.why.figure == "events of the log were lost"
    assert unknown.why.detail == "Before: topic limit (messages)"
    assert unknown.next[0] == "?"


def test_harm_comes_first_and_a_broker_that_stopped_does_none() -> None:
    lost = {"topic": "persistent://a/b/t", "subscription": "loses", "quota_type": "size", "quota_limit": 1000, "entries": 5, "times": 2,
            "first": NOON, "last": NOON, "each": [{"at": NOON, "entries": 5}]}  # fmt: skip
    rows = NowRows([why_row(), why_row(subscription="loses")], {}, {}, [lost], [])
    assert lines(rows)[0].badge == LOSING
    assert heading(lines(rows), rows, frame(), "").harm == "1 loses entries."
    stopped = NowRows([why_row(subscription="loses", status="unknown", unknown_reason="broker_stopped")], {}, {}, [lost], [])
    assert lines(stopped)[0].badge.word == "Unknown"


def test_nothing_behind_and_nothing_known_are_different_answers() -> None:
    well = NowRows([why_row(status="current", cause=None, backlog=0)], {}, {}, [], [])
    assert heading(lines(well), well, frame(), "").words == "Nothing is behind. 1 of 1 subscriptions are well."
    assert "but 3 events of the log are lost" in heading(lines(well), well, frame(3), "").lead
    none = NowRows([], {}, {}, [], [])
    answered = heading([], none, frame(), "no subscription is in the log yet")
    assert answered.words == "No subscription is known."
    assert answered.lead == "No subscription is in the log yet. This does not mean that nothing is behind."


def test_partitions_that_one_cause_holds_are_one_line_with_their_sums() -> None:
    def partition(number: int, backlog: int, **other: Any) -> dict[str, Any]:
        return why_row(topic=f"persistent://a/b/t-partition-{number}", backlog=backlog, **other)

    checks = {
        (f"persistent://a/b/t-partition-{number}", "s"): [
            {"check_time": NOON - timedelta(seconds=5 - step), "msg_backlog": number + step, "backlog_size": 1,
             "oldest_age_ms": 100 * number, "durable": True,
             "opened_at": NOON, "published_entries": 0, "acknowledged_entries": 0} for step in (0, 1)
        ] for number in range(3)
    }  # fmt: skip
    rows = [
        partition(0, 10), partition(1, 20, complete=False), why_row(), partition(2, 30),
        partition(3, 40, status="no consumer", cause="no_consumer", level=None, dimension=None),
    ]  # fmt: skip
    found = {unit.key: unit for unit in units(lines(NowRows(rows, checks, {}, [], [])))}
    assert len(found) == 3
    (folded,) = [unit for unit in found.values() if unit.parts]
    assert (len(folded.parts), folded.known) == (3, 4)
    assert (folded.line.short_topic, folded.line.backlog, folded.line.least, folded.line.age_ms) == ("t", 60, True, 200)
    assert folded.line.why.detail.startswith("the worst, partition 2; ")
    assert folded.line.spark is not None
    assert folded.line.spark.most == 1 + 2 + 3
    (alone,) = [unit for unit in found.values() if unit.line.topic.endswith("partition-3")]
    assert alone.parts == []
    assert [unit.parts for unit in units(lines(NowRows([partition(0, 1)], {}, {}, [], [])))] == [[]]


def test_now_has_the_worst_first_with_one_bold_figure_each(server: Served) -> None:
    status, html = server.get("/", at=AMID)
    assert status == 200
    assert heading_of(html) == "11 of 11 subscriptions are behind. 2 lose entries."
    rows = re.findall(r'<tbody data-key="(.*?)".*?</tbody>', html, re.S)
    assert [row.split()[1] for row in rows[:2]] == ["stats", "archive"]
    whys = re.findall(r'<td class="why">(.*?)</td>', html, re.S)
    assert len(whys) == 11
    assert all(why.count("<b>") == 1 for why in whys)
    assert "Topic limit 40 kB/s; 67/s come, 20/s go" in words_of(" ".join(whys))
    assert "11 age evictions" not in html
    assert "9 age evictions in 40 s: clicks / stats lost 4,065 entries." in words_of(html)


def test_at_the_end_of_the_log_the_state_is_not_known_and_nobody_reads_on(server: Served) -> None:
    html = server.get("/")[1]
    assert heading_of(html) == "Whether 11 of 11 subscriptions are behind is not known."
    assert "its broker stopped" in words_of(html)
    assert "No job reads this log on" in words_of(html)


def test_the_filter_works_without_a_script_and_may_find_nothing(server: Served) -> None:
    html = server.get("/", at=AMID, q="ORDERS held")[1]
    assert len(re.findall(r"<tbody data-key", html)) == 2
    assert "2 of 11 shown." in words_of(html)
    assert "11 of 11 subscriptions are behind" in heading_of(html), "the answer is about all"
    assert "0 of 11 shown." in words_of(server.get("/", at=AMID, q="nobody")[1])
    assert len(re.findall(r"<tbody data-key", server.get("/", at=AMID, cause="Slow consumers")[1])) == 2
    assert len(re.findall(r"<tbody data-key", server.get("/", at=AMID, namespace="real/y")[1])) == 11


def test_links_carry_the_moment(server: Served) -> None:
    html = server.get("/", at=AMID)[1]
    links = [unescape(link) for link in re.findall(r'href="(/[^"#]*)', html) if "/static/" not in link]
    assert links
    assert all("at=2026-11-21T11%3A47%3A59Z" in link for link in links)


def test_names_with_markup_are_text_and_marks_of_direction_are_seen() -> None:
    rows = NowRows([why_row(subscription=EVIL)], {}, {}, [], [])
    html = rendered(
        "now.html", frame=frame(), heading=heading(lines(rows), rows, frame(), ""), behind=units(lines(rows)), more=0, well=[], total=1,
        shown=1,
        asked={"q": EVIL}, is_filtered=True, namespaces=[EVIL, "a/b"], causes=[EVIL, "x"], happened=[],
    )  # fmt: skip
    assert "<script>alert" not in html
    assert "\u202e" not in html
    assert "\\u202e" in html
    assert re.findall(r"<script[^>]*>", html) == [f'<script src="/static/{version()}/page.js" defer>']
    assert " style=" not in html, "the policy refuses inline styles"


# ---- a subscription -------------------------------------------------------------------------------------------------------------------


def test_a_subscription_has_the_verdict_of_explain_and_its_advice(server: Served, loaded: Warehouse) -> None:
    status, html = server.get("/subscription", at=AMID, **BILLING)
    room = ReadingRoom(loaded, consistent=True)
    document = answer(room, *BILLING.values(), None, datetime.fromisoformat(AMID), timedelta(minutes=10))
    words = words_of(html)
    assert status == 200
    assert words_of(told(document["verdict"])) in words
    assert heading_of(html) == "Held back. 2,982 entries wait; 100% of the backlog is charged to the topic's limiter of bytes."
    for step in document["advice"]:
        assert words_of(told(step["do"])) in words
        assert step["command"] is None or step["command"] in words
    assert "<rect" in html
    assert re.search(r"<title>11:47:00 UTC: topic limit \(bytes\) 1,[0-9]{3}\.[0-9]", html)


def test_a_range_is_the_stretch_of_the_charts(server: Served, loaded: Warehouse) -> None:
    asked = {"from": "2026-11-21T11:47:20Z", "to": "2026-11-21T11:47:50Z"}
    html = server.get("/subscription", **BILLING, **asked)[1]
    room = ReadingRoom(loaded, consistent=True)
    document = answer(room, *BILLING.values(), None, datetime.fromisoformat(asked["to"]), timedelta(seconds=30))
    assert words_of(told(document["verdict"])) in words_of(html)


@pytest.mark.parametrize(
    ("path", "asked", "words"),
    [
        ("/topic", {"topic": "persistent://real/y/audit"}, "Quota exceeded. audit has 2 cursors."),
        ("/broker", {"broker": "127.0.0.1:8080"}, "limiters held somebody back."),
        ("/log", {}, "The log is whole. 78,969 events came, none is lost."),
    ],
)
def test_a_topic_a_broker_and_the_log_have_pages(server: Served, path: str, asked: dict[str, str], words: str) -> None:
    status, html = server.get(path, at=AMID, **asked)
    assert status == 200
    assert words in heading_of(html)
    assert " style=" not in html


# ---- over HTTP ------------------------------------------------------------------------------------------------------------------------


def head_of(server: Served, path: str) -> str:
    whole = server.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    return whole.partition(b"\r\n\r\n")[0].decode().lower()


def test_pages_allow_nothing_inline_and_nothing_of_others(server: Served) -> None:
    head = head_of(server, "/")
    assert f"content-security-policy: {POLICY}".lower() in head
    assert "unsafe" not in POLICY
    assert "cache-control: no-store" in head
    for path in PAGES:
        html = server.get(path, at=AMID)[1]
        assert " style=" not in html
        assert not re.search(r"\son\w+=", html)
        assert not re.search(r"(?:src|href)=\"https?:", html)


def test_static_files_are_kept_for_ever_under_their_version(server: Served) -> None:
    head = head_of(server, f"/static/{version()}/style.css")
    assert head.startswith("http/1.1 200")
    assert "cache-control: public, max-age=31536000, immutable" in head
    assert "no-store" not in head
    assert server.get(f"/static/{version()}/page.js")[1] == static("page.js")
    for path in ("/static/old/style.css", f"/static/{version()}/routes.py", f"/static/{version()}/..%2Froutes.py"):
        assert server.get(path)[0] == 404


@pytest.mark.parametrize(
    ("path", "asked", "status", "words"),
    [
        ("/", {"at": "yesterday"}, 400, "at yesterday: expected an ISO 8601 time"),
        ("/", {"x": "1"}, 400, "x: not known here"),
        ("/", {"from": AMID, "to": AMID}, 400, "to: expected a time after from"),
        ("/subscription", {}, 400, "topic: name one"),
        ("/subscription", {"topic": "persistent://real/y/orders", "subscription": EVIL}, 404, "has no subscription"),
    ],
)
def test_a_fault_is_a_page(server: Served, path: str, asked: dict[str, str], status: int, words: str) -> None:
    found, html = server.get(path, **asked)
    assert found == status
    assert words in words_of(html)
    assert "<script>alert" not in html


def test_pages_weigh_little(server: Served) -> None:
    fixed = sum(len(static(name).encode()) for name in ("style.css", "page.js"))
    for path, asked in (("/", {}), ("/subscription", BILLING)):
        assert fixed + len(server.get(path, at=AMID, **asked)[1].encode()) < 200_000


def test_a_page_hears_of_a_change_and_the_listeners_are_bounded(loaded: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.serving.page.routes.MOST_LISTENERS", 1)
    shutil.copytree(loaded.root.removeprefix("file:"), tmp_path / "w")
    warehouse = Warehouse(f"file:{tmp_path / 'w'}")
    with served(warehouse) as made, socket.create_connection(("127.0.0.1", made.port), timeout=PATIENCE_S) as page:
        page.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        heard = read_until(page, b": still here")
        assert b"text/event-stream" in heard
        assert made.get("/events")[0] == 503
        (manifest,) = ReadingRoom(warehouse).rows("SELECT * FROM batch_manifest WHERE query = 'lanes'")
        append_rows(warehouse, TABLES_BY_NAME["batch_manifest"], [{**manifest, "batch_id": 1}])
        read_until(page, b"event: changed")


def test_an_open_page_does_not_keep_the_server_from_ending(loaded: Warehouse) -> None:
    with served(loaded) as made:
        page = socket.create_connection(("127.0.0.1", made.port), timeout=PATIENCE_S)
        page.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        read_until(page, b": still here")
        ended_from = time.monotonic()
    assert time.monotonic() - ended_from < 5
    page.close()


def read_until(connection: socket.socket, words: bytes) -> bytes:
    heard, deadline = b"", time.monotonic() + PATIENCE_S
    while words not in heard:
        assert time.monotonic() < deadline
        heard += connection.recv(65_536)
    return heard


def known(broker: str, minute: int, *, stopped: bool) -> dict[str, Any]:
    return {"broker": broker, "as_of": datetime(2026, 11, 21, 12, minute, tzinfo=UTC), "has_stopped": stopped}


def test_a_silent_broker_makes_the_page_old_and_one_that_stopped_does_not() -> None:
    assert newest_known([known("a", 9, stopped=False), known("b", 5, stopped=False)]) == known("b", 5, stopped=False)["as_of"]
    assert newest_known([known("a", 9, stopped=False), known("b", 5, stopped=True)]) == known("a", 9, stopped=False)["as_of"]
    assert newest_known([known("a", 3, stopped=True), known("b", 5, stopped=True)]) == known("b", 5, stopped=True)["as_of"]
    assert newest_known([]) is None


def test_rooms_are_warm_before_the_first_reader_and_a_fault_waits_for_one(loaded: Warehouse, tmp_path: Path) -> None:
    def again(room: ReadingRoom) -> str:
        raise AssertionError("it was kept")

    async def warmed() -> str:
        answers = Answers(loaded, Bounds(threads=1))
        watching = asyncio.create_task(answers.watch())
        await warm_up(answers)
        kept = await answers.of(key_of("/", {}), again)
        watching.cancel()
        answers.close()
        return kept.body.decode()

    assert heading_of(asyncio.run(warmed())) == "Whether 11 of 11 subscriptions are behind is not known."
    with served(loaded, warm=True) as made:
        assert made.get("/")[0] == 200
    with served(Warehouse(f"file:{tmp_path}"), warm=True) as empty:
        assert empty.get("/healthz") == (200, "ok\n")
        assert empty.get("/")[0] == 503

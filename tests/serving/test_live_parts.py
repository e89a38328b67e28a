"""A live page changes without being loaded anew: so all that may change on it is marked, and the script (page.js) takes it over.

`data-live`: its content is replaced. `data-slot`: it is replaced whole when other live parts are in it. Rows have `data-key`.
"""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from capture_events import write_events
from live_warehouse import live_warehouse
from loaded import load_into
from log_builder import BROKER, SUB, TOPIC
from served import Served, served
from started_broker import nobody_reads

from pipeline.warehouse.layout import Warehouse

EVENTS = Path(__file__).parents[2] / "demo" / "y_incident" / "events.jsonl.gz"
#: From before the incident of the demo to its end.
INSTANTS = [f"2026-11-21T11:47:{second:02}Z" for second in (0, 10, 20, 30, 45, 59)] + ["2026-11-21T11:48:10Z"]
ORDERS, THUMBNAILS = "persistent://real/y/orders", "persistent://real/y/images"
WITHOUT_END = {"meta", "link", "input", "br", "img", "col", "hr"}
Tokens = tuple[str, ...]


class Skeleton(HTMLParser):
    """Text and elements of a page but for what is live; of each slot the names of its live parts, and its own skeleton."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._open: list[str] = []
        self._live_at: int | None = None
        self._slot_at: tuple[int, str] | None = None
        self.fixed: list[str] = []
        self.slots: dict[str, tuple[list[str], list[str]]] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        if tag not in WITHOUT_END:
            self._open.append(tag)
        if self._live_at is not None or "head" in self._open:
            return
        if (slot := about.get("data-slot")) is not None:
            assert self._slot_at is None, "a slot in a slot"
            self._slot_at = (len(self._open), slot)
            self.slots[slot] = ([], [])
            self.fixed.append(f"slot {slot}")
            return
        live = about.get("data-live") or ("a row" if "data-key" in about and tag == "tbody" else None)
        if live == "fresh":
            self._say("the corner")  # the script has rules of its own for its class
        elif live != "a row":
            self._say(f"<{tag} {about.get('class')} {about.get('id')} {live}>")
        if live is not None:
            self._live_at = len(self._open)
            if self._slot_at is not None:
                self.slots[self._slot_at[1]][0].append(live)

    def handle_endtag(self, tag: str) -> None:
        depth = len(self._open)
        if self._live_at == depth:
            self._live_at = None
        if self._slot_at is not None and self._slot_at[0] == depth:
            self._slot_at = None
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._live_at is None and "head" not in self._open and data.strip():
            self._say(data.strip())

    def _say(self, token: str) -> None:
        (self.fixed if self._slot_at is None else self.slots[self._slot_at[1]][1]).append(token)


def differences(pages: list[str]) -> list[str]:
    """What changes between the pages though nothing would change it on an open one."""
    skeletons = [Skeleton(page) for page in pages]
    found = [f"not live: {token}" for other in skeletons[1:] for token in {*other.fixed} ^ {*skeletons[0].fixed}]
    if not found:
        found = ["an order" for other in skeletons[1:] if other.fixed != skeletons[0].fixed]
    of_slots: dict[tuple[str, Tokens], Tokens] = {}
    for skeleton in skeletons:
        for slot, (keys, own) in skeleton.slots.items():
            if of_slots.setdefault((slot, (*keys,)), (*own,)) != (*own,):
                found.append(f"slot {slot}: not live: {own}")
    return found


@pytest.fixture(scope="module")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> list[Warehouse]:
    """Of the log while it goes on, before and after its first window is over; and of one that has ended, of which an event is lost."""
    folder = tmp_path_factory.mktemp("open")
    write_events([event for event in nobody_reads(200) if event["seq"] != 100], folder / "events" / "1.jsonl")
    ended = load_into(folder / "events", folder / "ended")
    return [live_warehouse(nobody_reads(40), folder / "young"), live_warehouse(nobody_reads(75), folder / "older"), ended]


@pytest.fixture(scope="module")
def incident(warehouses: list[Warehouse], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """After all that is loaded: a load forks processes, which must not be done beside a server's thread."""
    with served(load_into(EVENTS, tmp_path_factory.mktemp("incident") / "w")) as made:
        yield made


@pytest.mark.parametrize(
    ("path", "about"),
    [
        ("/", {}),
        ("/subscription", {"topic": ORDERS, "subscription": "billing"}),
        ("/topic", {"topic": ORDERS}),
        ("/topic", {"topic": THUMBNAILS}),
        ("/broker", {"broker": "127.0.0.1:8080"}),
    ],
)
def test_all_that_changes_with_time_is_live(incident: Served, path: str, about: dict[str, str]) -> None:
    pages = [page for status, page in (incident.get(path, at=at, **about) for at in INSTANTS) if status == 200]
    assert len(pages) > 4
    assert differences(pages) == []


def test_an_open_page_hears_of_lost_events_and_of_the_first_window(warehouses: list[Warehouse]) -> None:
    pages: dict[str, list[str]] = {}
    asked = {"/": {}, "/subscription": {"topic": TOPIC, "subscription": SUB}, "/log": {}, "/broker": {"broker": BROKER}}
    for warehouse in warehouses:
        with served(warehouse) as server:
            for path, about in asked.items():
                status, page = server.get(path, **about)
                assert status == 200, (path, page)
                if 'data-live-page="begins"' not in page:  # in its place another is loaded when the first window is over
                    pages.setdefault(path, []).append(page)
    assert {path: "The log has gaps" in found[-1] for path, found in pages.items()} == dict.fromkeys(asked, True)
    assert [words for found in pages.values() for words in differences(found)] == []

"""Updates come by themselves, and nothing jumps: text changes in place, rows keep their order while somebody is on them."""

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsed import Warehouses
from looked_at import Visitor
from served import Served, served

from pipeline.query.room import ReadingRoom
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from schemas.tables import TABLES_BY_NAME

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: A number of an event that is later than all of the log.
LATER_SEQ = 10**9
ROWS = "table.main tbody[data-key]"


@pytest.fixture
def live(warehouses: Warehouses, tmp_path: Path) -> Iterator[Served]:
    """The incident while it goes on. A job may append to it: none has ended."""
    shutil.copytree(warehouses.amid.root.removeprefix("file:"), tmp_path / "w")
    shutil.rmtree(tmp_path / "w" / "run_ledger")
    with served(Warehouse(f"file:{tmp_path / 'w'}")) as made:
        yield made


def notice(warehouse: Warehouse, subscription: str, backlog: int, **other: Any) -> None:
    """As the job does within a window: another cause of a subscription, and the micro-batch that has it."""
    room = ReadingRoom(warehouse)
    (as_of,) = (row["as_of"] for row in room.rows("SELECT as_of FROM newest_windows"))
    (last,) = room.rows(f"SELECT * FROM cause_transitions WHERE subscription = '{subscription}' ORDER BY seq DESC LIMIT 1")
    (manifest,) = room.rows("SELECT * FROM batch_manifest WHERE query = 'lanes' ORDER BY batch_id DESC LIMIT 1")
    changed = {**last, "seq": LATER_SEQ, "noticed_at": as_of + timedelta(seconds=2), "backlog": backlog, "waiting": backlog, **other}
    append_rows(warehouse, TABLES_BY_NAME["cause_transitions"], [changed])
    versions = {**dict(manifest["table_versions"]), "cause_transitions": str(ReadingRoom(warehouse).version("cause_transitions"))}
    batch = {**manifest, "batch_id": manifest["batch_id"] + 1, "table_versions": versions}
    append_rows(warehouse, TABLES_BY_NAME["batch_manifest"], [batch])


def places(page: "Page") -> list[Any]:
    """Of every row: its name, and where it lies."""
    return page.evaluate(f"[...document.querySelectorAll('{ROWS}')].map(row => [row.dataset.key, row.getBoundingClientRect().toJSON()])")


def listening(visitor: Visitor, page: "Page") -> "Page":
    """As soon as it hears of changes; it has a mark that a page loaded anew would not have."""
    while not any(url.endswith("/events") for url in visitor.answered):
        page.wait_for_timeout(20)
    page.evaluate("window.mark = true")
    return page


def test_a_figure_changes_in_place_and_nothing_else_moves(live: Served, visitor: Visitor) -> None:
    page = listening(visitor, visitor.opens(live))
    page.locator("main details summary").first.click()
    page.evaluate("scrollTo(0, 120)")
    before = places(page)
    notice(live.answers.warehouse, "billing", 99_999)
    page.locator(ROWS, has_text="99,999").wait_for()
    assert places(page) == before
    assert page.evaluate("[scrollY, window.mark]") == [120, True]
    assert page.locator("main details").first.get_attribute("open") is not None


def test_rows_keep_their_order_while_the_pointer_is_on_them(live: Served, visitor: Visitor) -> None:
    page = listening(visitor, visitor.opens(live))
    names = [name for name, _ in places(page)]
    assert names[2].endswith("desk")
    page.locator(ROWS).nth(3).hover()
    notice(live.answers.warehouse, "desk", 0, cause=None, level=None, dimension=None)
    page.locator("#order").wait_for()
    assert [name for name, _ in places(page)] == names
    assert "It is applied when you leave" in page.locator("#order").inner_text()
    page.locator("h1").hover()
    page.wait_for_function(f"document.querySelectorAll('{ROWS}')[2].dataset.key.endsWith('billing')")
    assert not page.locator("#order").is_visible()
    assert page.evaluate("window.mark")


def test_rows_keep_their_order_while_the_focus_is_on_them(live: Served, visitor: Visitor) -> None:
    page = listening(visitor, visitor.opens(live))
    names = [name for name, _ in places(page)]
    page.keyboard.press("j")
    notice(live.answers.warehouse, "desk", 0, cause=None, level=None, dimension=None)
    page.locator("#order").wait_for()
    assert [name for name, _ in places(page)] == names
    page.keyboard.press("/")
    page.wait_for_function(f"document.querySelectorAll('{ROWS}')[2].dataset.key.endsWith('billing')")


def test_rows_keep_their_order_while_the_list_is_filtered(live: Served, visitor: Visitor) -> None:
    page = listening(visitor, visitor.opens(live))
    names = [name for name, _ in places(page)]
    page.locator("#filter").fill("real")
    notice(live.answers.warehouse, "desk", 0, cause=None, level=None, dimension=None)
    page.locator("#order").wait_for()
    assert [name for name, _ in places(page)] == names
    page.locator("#filter").fill("")
    page.wait_for_function(f"document.querySelectorAll('{ROWS}')[2].dataset.key.endsWith('billing')")


def test_a_page_of_the_past_does_not_ask_again(live: Served, visitor: Visitor) -> None:
    visitor.opens(live, at="2026-11-21T11:47:59Z").wait_for_timeout(500)
    assert [entry for entry in live.log if entry["path"] == "/events"] == []
    asked = [entry["path"] for entry in live.log]
    assert asked.count("/") == 1


def test_a_page_without_news_says_that_it_is_old(live: Served, visitor: Visitor) -> None:
    page = visitor.opens(live)
    page.locator("#stale").wait_for()
    assert page.title().startswith("stale · ")
    assert "ago" in page.locator("#fresh").inner_text()


def test_parts_of_a_page_come_and_go_while_it_is_open(live: Served, visitor: Visitor, warehouses: Warehouses) -> None:
    """As on a page that was opened before anything happened, with a part that nothing is left of. And the job has ended."""
    page = listening(visitor, visitor.opens(live))
    page.evaluate("document.querySelector('[data-slot=happened]').replaceChildren()")
    page.evaluate("document.querySelector('[data-slot=well]').innerHTML = '<p id=\"old\" data-live=\"of-before\">old</p>'")
    assert page.get_by_role("heading", name="What happened").count() == 0
    assert page.locator("#ended").count() == 0
    page.locator("#stale").wait_for()
    root = live.answers.warehouse.root.removeprefix("file:")
    shutil.copytree(warehouses.amid.root.removeprefix("file:") + "/run_ledger", f"{root}/run_ledger")
    notice(live.answers.warehouse, "billing", 99_999)
    page.get_by_role("heading", name="What happened").wait_for()
    page.locator("#ended").wait_for()
    assert not page.locator("#stale").is_visible(), "one reason is enough"
    assert not page.title().startswith("stale")
    page.locator("#old").wait_for(state="detached")
    shutil.rmtree(f"{root}/run_ledger")  # another job goes on
    notice(live.answers.warehouse, "desk", 77_777)
    page.locator("#ended").wait_for(state="detached")
    page.locator("#stale").wait_for()
    assert page.evaluate("window.mark")

"""From the list to the evidence, and back, as somebody goes who looks for the reason; copying a command; links that are a moment."""

import re
from typing import TYPE_CHECKING

import pytest
from looked_at import AMID, PHONE, WIDE, Visitor
from pages import BILLING, EVERY_KIND
from served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

AT_AMID = "at=2026-11-21T11%3A47%3A59Z"


def opened_fold(page: "Page", name: str) -> "Page":
    page.locator("summary", has_text=name).click()
    return page


def test_from_the_list_to_the_evidence(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo, at=AMID)
    assert page.title() == "11 of 11 subscriptions are behind. 2 lose entries. · Dispatch"
    page.locator("tr", has_text="orders / billing").click(position={"x": 300, "y": 10})
    page.wait_for_url("**/subscription?**")
    assert AT_AMID in page.url
    assert "Held back." in page.locator("h1").inner_text()
    rows = opened_fold(page, "Causes").locator('[data-live="causes"] tr')
    rows.first.wait_for()
    assert "topic limit (bytes)" in rows.first.inner_text(), "the newest window, its largest cause"
    page.locator(".crumb a", has_text="orders").click()
    page.wait_for_url("**/topic?**")
    assert AT_AMID in page.url
    opened_fold(page, "Quota checks").locator('[data-live="checks"] tr').first.wait_for()
    page.locator(".crumb a", has_text="127.0.0.1:8080").click()
    page.wait_for_url("**/broker?**")
    assert "held somebody back" in page.locator("h1").inner_text()
    page.locator("header nav a", has_text="Now").click()
    page.wait_for_url("**/?**")
    assert AT_AMID in page.url


def test_the_way_to_the_command_is_two_clicks(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo, at=AMID)
    page.locator("tr", has_text="orders / billing").locator(".do a").click()
    page.wait_for_url("**#do")
    button = page.locator("button[data-copy]").first
    button.click()
    page.get_by_text("Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("pulsar-admin topicPolicies set-dispatch-rate")
    assert copied == page.locator(".run code").first.inner_text()


def test_an_instant_is_chosen_in_the_readers_own_time(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo)
    assert "Whether 11 of 11 subscriptions are behind is not known." in page.locator("h1").inner_text()
    page.get_by_text("Instant").click()
    page.locator("#at").fill("2026-11-21T05:47:59")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**at=2026-11-21T11**")
    assert "2 lose entries" in page.locator("h1").inner_text()
    assert page.locator("#at").input_value() == "2026-11-21T05:47:59"
    page.get_by_text("Now", exact=True).nth(1).click()
    page.wait_for_url(re.compile(r"/\??$"))


def test_times_are_local_with_utc_on_hover(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo, "/subscription", at=AMID, **BILLING)
    since = page.locator('[data-live="limits"] time').first
    assert since.inner_text().endswith("05:46:57")
    assert since.get_attribute("title") == "2026-11-21 11:46:57 UTC"
    assert page.locator("#tz").inner_text() == "Times are local (UTC−6); point at one to see UTC."


@pytest.mark.parametrize("width", [WIDE, PHONE])
@pytest.mark.parametrize("name", EVERY_KIND)
def test_pages_read_without_scripts(demo: Served, visitor: Visitor, name: str, width: int) -> None:
    path, asked = EVERY_KIND[name]
    page = visitor.opens(demo, path, width=width, scripts=False, **asked)
    assert page.locator("h1").inner_text()
    assert page.locator("#tz").inner_text() == "Times are UTC."
    assert page.locator("table tbody tr").count() > 0
    for fold in page.locator("main details > summary").all():
        fold.click()
    assert page.locator("main details:not([open])").count() == 0
    assert page.locator("button:visible", has_text="Copy").count() == 0


def test_filter_and_time_work_without_scripts(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo, scripts=False, at=AMID)
    page.locator("#filter").fill("orders")
    page.get_by_role("button", name="Filter").click()
    assert page.locator("table.main tbody tr").count() == 2
    assert "2 of 11 shown." in page.locator("#shown").inner_text()
    page.get_by_text("Range").click()
    page.locator("#from").fill("2026-11-21T11:47:20")
    page.locator("#to").fill("2026-11-21T11:47:50")
    page.get_by_role("button", name="Show").click()
    assert "when=range" in page.url
    assert "2 lose entries" in page.locator("h1").inner_text()

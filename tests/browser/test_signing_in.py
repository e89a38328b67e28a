"""A browser at a server with a token: the form once, then pages, their updates and links, until the session ends."""

from collections.abc import Iterator

import pytest
from browsed import Warehouses
from looked_at import AMID, PHONE, Visitor, is_wider_than_its_window
from served import Served, served
from test_looks import findings

TOKEN = "a-long-secret"


@pytest.fixture(scope="module")
def guarded(warehouses: Warehouses) -> Iterator[Served]:
    with served(warehouses.amid, token=TOKEN) as made:
        yield made


def test_the_token_is_asked_for_once_and_opens_what_was_asked_for(guarded: Served, visitor: Visitor) -> None:
    page = visitor.opens(guarded, "/log", width=PHONE, at=AMID)
    assert page.locator("h1").inner_text() == "Sign in."
    assert not is_wider_than_its_window(page)
    assert findings(page) == []
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    assert page.get_by_role("alert").inner_text().strip() == "This is not the token."
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_url("**/log?at=**")
    assert "The log is whole." in page.locator("h1").inner_text()
    # A refusal is an error of the console by itself.
    assert all("401" in fault for fault in visitor.faults), visitor.faults
    visitor.faults.clear()
    page.locator("header nav a", has_text="Now").click()
    page.wait_for_url("**/?at=**")
    assert page.locator("table.main tbody").count() > 0
    assert page.evaluate("document.cookie") == ""
    page.goto(f"http://127.0.0.1:{guarded.port}/")
    while not any(url.endswith("/events") for url in visitor.answered):
        page.wait_for_timeout(20)
    page.goto(f"http://127.0.0.1:{guarded.port}/sign-in")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").wait_for()
    assert all("401" in fault for fault in visitor.faults), visitor.faults
    visitor.faults.clear()

"""The page by keyboard alone: filter, next and previous row, open, folds, the choice of time. The focus is always seen."""

from typing import TYPE_CHECKING

import pytest
from looked_at import AMID, Visitor
from pages import BILLING, EVERY_KIND
from served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOCUS = "document.activeElement"
#: More stops of Tab than any page here has.
MOST_STOPS = 120


def test_filter_choose_and_open(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo, at=AMID)
    page.keyboard.press("/")
    assert page.evaluate(f"{FOCUS}.id") == "filter"
    page.keyboard.type("orders")
    assert page.locator("table.main tbody:visible").count() == 2
    assert page.locator("#shown").inner_text() == "2 of 11 rows shown."
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    assert page.evaluate(f"{FOCUS}.textContent") == "orders / warehouse"
    page.keyboard.press("Enter")
    page.wait_for_url("**/subscription?**warehouse**")


def test_folds_open_by_keyboard(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo, "/subscription", at=AMID, **BILLING)
    page.locator("summary", has_text="Causes").focus()
    page.keyboard.press("Enter")
    assert page.locator('[data-live="causes"]').is_visible()


def test_a_range_is_chosen_by_arrows(demo: Served, visitor: Visitor) -> None:
    page = visitor.opens(demo, at=AMID)
    page.locator('[name="when"][value="at"]').focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#from").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**from=**")


@pytest.mark.parametrize("name", EVERY_KIND)
def test_all_that_can_be_clicked_has_a_stop_with_a_visible_ring(demo: Served, visitor: Visitor, name: str) -> None:
    path, asked = EVERY_KIND[name]
    page = visitor.opens(demo, path, **asked)
    reached = stops(page)
    assert all(ring for _, ring in reached), [words for words, ring in reached if not ring]
    words = {words for words, _ in reached}
    wanted = page.evaluate(
        "[...document.querySelectorAll('a[href], button, summary')].filter(one => one.checkVisibility()).map(one => one.textContent.trim())"
    )
    assert set(wanted) <= words


def stops(page: "Page") -> list[tuple[str, bool]]:
    """Text of each element that Tab reaches, and whether it, or its label, has an outline then. A field of time has stops within."""
    found = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        if page.evaluate(f"{FOCUS} === document.body"):
            break
        found.append(
            page.evaluate(
                f"(() => {{ const at = {FOCUS}, seen = at.closest('.seg label') ?? at;"
                " return [at.textContent.trim(), at.type === 'datetime-local' || getComputedStyle(seen).outlineStyle !== 'none'] })()"
            )
        )
    return [(words, ring) for words, ring in found]

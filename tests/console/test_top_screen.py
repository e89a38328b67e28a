"""The screen of `top`, in a terminal that the test plays."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from console.top_screen import Details, TopScreen

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def row(subscription: str, entry_s: float, age_s: float | None, breach_in_s: float | None) -> dict[str, Any]:
    return {
        "broker": "b1", "topic": "persistent://shop/eu/orders", "subscription": subscription, "status": "held back", "level": "topic",
        "dimension": "msg", "share": 0.9, "since_s": 90.0, "backlog": 1200, "entry_s": entry_s, "age_s": age_s, "breach_in_s": breach_in_s,
        "exceeded": False,
        "breach_unknown": False,
        "as_of": NOON,
        "known_until": NOON,
    }  # fmt: skip


ROWS = [row("old", 10, 900.0, None), row("large", 5000, 30.0, 600.0), row("near [red]", 20, None, 5.0)]
Script = Callable[[TopScreen, Pilot[None]], Awaitable[None]]


def played(script: Script, ask: Callable[[], list[dict[str, Any]]] = lambda: list(ROWS)) -> None:
    async def play() -> None:
        app = TopScreen(ask, lambda one: [f"{one['subscription']} is behind [bold]"], "backlog", 3600)
        async with app.run_test(size=(160, 40)) as pilot:
            await pilot.pause()
            await script(app, pilot)

    asyncio.run(play())


def names(app: TopScreen) -> list[str]:
    table = app.query_one(DataTable)
    return [str(table.get_row_at(place)[0]) for place in range(table.row_count)]


def test_keys_order_the_rows_and_names_are_no_markup() -> None:
    async def script(app: TopScreen, pilot: Pilot[None]) -> None:
        assert names(app) == ["large", "near [red]", "old"]
        await pilot.press("a")
        assert names(app) == ["old", "large", "near [red]"]
        await pilot.press("t")
        assert names(app) == ["near [red]", "large", "old"]
        head = str(app.query_one("#head", Static).render())
        assert "3 subscriptions by time to the next breach of a quota, as of 2026-01-05T12:00:00Z" in head

    played(script)


def test_enter_looks_into_the_row_under_the_cursor_and_escape_goes_back() -> None:
    async def script(app: TopScreen, pilot: Pilot[None]) -> None:
        await pilot.press("down", "enter")
        await pilot.pause()
        assert isinstance(app.screen, Details)
        assert "near [red] is behind [bold]" in str(app.screen.query_one("#details", Static).render())
        await pilot.press("escape")
        assert not isinstance(app.screen, Details)

    played(script)


def test_the_cursor_stays_on_its_subscription_when_others_pass_it() -> None:
    rows = list(ROWS)

    async def script(app: TopScreen, pilot: Pilot[None]) -> None:
        await pilot.press("down", "down")
        rows[:] = [row("old", 10**6, 900.0, None), *ROWS[1:]]
        await app.read()
        assert names(app)[0] == "old"
        assert app.query_one(DataTable).cursor_row == 0
        rows.clear()
        await app.read()
        assert names(app) == []

    played(script, lambda: list(rows))

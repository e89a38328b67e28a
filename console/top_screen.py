"""The screen of `top`: a table that refreshes, keys to order it, and a look into one row."""

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Static

from pipeline.diagnosis.instants import time_words
from pipeline.diagnosis.ranking import COLUMNS, cells, newest, ordered
from pipeline.visible import cut_in_the_middle, visible

Row = dict[str, Any]
_WORDS = {"backlog": "backlog × time", "age": "age of the oldest entry", "breach": "time to the next breach of a quota"}


class Details(ModalScreen[None]):
    """What `explain` says of one subscription."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss", "back")]

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        """The lines, as they are: nothing in them is markup."""
        yield VerticalScroll(Static(Text("\n".join(self._lines)), id="details"))
        yield Footer()


class TopScreen(App[None]):
    """`ask` gives the rows as they are now, `explain` the lines about one; both may take a second, and are never asked at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "order('backlog')", "by backlog"),
        Binding("a", "order('age')", "by age"),
        Binding("t", "order('breach')", "by time to breach"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(self, ask: Callable[[], list[Row]], explain: Callable[[Row], list[str]], order: str, every_s: float) -> None:
        super().__init__()
        self._ask, self._explain, self._order, self._every_s = ask, explain, order, every_s
        self._rows: list[Row] = []
        self._one_at_a_time = asyncio.Lock()

    def compose(self) -> ComposeResult:
        """A line about the whole, the table, the keys."""
        yield Static("reading …", id="head")
        yield DataTable(cursor_type="row", zebra_stripes=True)
        yield Footer()

    async def on_mount(self) -> None:
        """Read at once, then every so often."""
        self.query_one(DataTable).add_columns(*COLUMNS)
        await self.read()
        self.set_interval(self._every_s, self.read)

    async def read(self) -> None:
        """Ask for the rows, beside the keys; not again while that takes."""
        if self._one_at_a_time.locked():
            return
        async with self._one_at_a_time:
            rows = await asyncio.to_thread(self._ask)
        self.show(rows)

    def show(self, rows: list[Row]) -> None:
        """Put rows into the table; the cursor stays on its subscription."""
        table = self.query_one(DataTable)
        chosen = self._key(table.cursor_row)
        self._rows = ordered(rows, self._order)
        table.clear()
        for row in self._rows:
            table.add_row(*(Text(cut_in_the_middle(visible(cell))) for cell in cells(row)))
        table.move_cursor(row=next((place for place in range(len(self._rows)) if self._key(place) == chosen), 0))
        at = newest(self._rows)
        when = "" if at is None else f", as of {time_words(at)}"
        self.query_one("#head", Static).update(Text(f"{len(self._rows):,} subscriptions by {_WORDS[self._order]}{when}"))

    def _key(self, place: int) -> tuple[str, ...]:
        """Who is in a place of the table."""
        if 0 <= place < len(self._rows):
            row = self._rows[place]
            return (row["broker"], row["topic"], row["subscription"])
        return ()

    def action_order(self, order: str) -> None:
        """Order the rows that are there anew."""
        self._order = order
        self.show(self._rows)

    async def on_data_table_row_selected(self, chosen: DataTable.RowSelected) -> None:
        """Look into the row under the cursor."""
        row = self._rows[chosen.cursor_row]
        async with self._one_at_a_time:
            lines = await asyncio.to_thread(self._explain, row)
        self.push_screen(Details(lines))

"""The broker's heap of slowest cursors, ties and all (semantics 2.1 and 2.4; case B21)."""

from dataclasses import dataclass, field

Position = tuple[int, int]


@dataclass
class SlowestHeap:
    """Names in heap order and the persisted mark-delete position of each. Only durable cursors are put in."""

    names: list[str] = field(default_factory=list)
    at: dict[str, Position] = field(default_factory=dict)

    def clone(self) -> "SlowestHeap":
        return SlowestHeap(list(self.names), dict(self.at))

    def root(self) -> str | None:
        return self.names[0] if self.names else None

    def add(self, name: str, position: Position) -> None:
        """A cursor comes to the end of the array and rises. One of the same name is replaced."""
        if name in self.at:
            self.remove(name)
        self.names.append(name)
        self.at[name] = position
        self._rise(len(self.names) - 1)

    def remove(self, name: str) -> None:
        """The last of the array takes the place of the one that goes, and only sinks (it never rises)."""
        if name not in self.at:
            return
        hole = self.names.index(name)
        last = self.names.pop()
        if last != name:
            self.names[hole] = last
            self._sink(hole)
        del self.at[name]

    def move(self, name: str, position: Position) -> None:
        """The persisted position of a cursor changed: it sinks, or rises where its parent is now greater."""
        if name not in self.at:
            return
        self.at[name] = position
        here = self.names.index(name)
        if here == 0 or self.at[self.names[(here - 1) // 2]] <= position:
            self._sink(here)
        else:
            self._rise(here)

    def _rise(self, here: int) -> None:
        while here > 0:
            parent = (here - 1) // 2
            if self.at[self.names[parent]] <= self.at[self.names[here]]:
                return
            self._swap(here, parent)
            here = parent

    def _sink(self, here: int) -> None:
        """Only below strictly smaller children; of two smaller and equal ones the right one comes up."""
        while True:
            left, right = self._place(2 * here + 1), self._place(2 * here + 2)
            smaller = None
            if left is not None and left < self.at[self.names[here]]:
                smaller = 2 * here + 1
            if right is not None and right < self.at[self.names[here]] and not (smaller is not None and left is not None and left < right):
                smaller = 2 * here + 2
            if smaller is None:
                return
            self._swap(here, smaller)
            here = smaller

    def _place(self, index: int) -> Position | None:
        return self.at[self.names[index]] if index < len(self.names) else None

    def _swap(self, one: int, other: int) -> None:
        self.names[one], self.names[other] = self.names[other], self.names[one]

"""A job in a process of its own that came to its end."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """Its exit status, and all that it printed."""

    code: int
    said: str

    @property
    def error(self) -> str:
        """The one line that names what is wrong. Spark may log while it ends."""
        (line,) = [line for line in self.said.splitlines() if line.startswith("error: ")]
        return line

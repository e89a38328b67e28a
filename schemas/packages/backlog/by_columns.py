"""What the package computes of events, by columns."""

from collections.abc import Callable
from typing import Any

VALUES = {"outside_of_round": lambda cause: cause.is_valid().cast("int64")}
ANSWERS: dict[str, Callable[..., Any]] = {}

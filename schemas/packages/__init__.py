"""The packages of rules, in the order in which an event reaches them: the broker first, whose state all others read.

A new package is a name in this list, its declaration here (schemas/packages/<name>) and its rules (pipeline/rules/<name>).
"""

from importlib import import_module

from schemas.packages.declaration import Declaration

NAMES = ("broker", "throttle", "backlog", "channel", "policy", "cause")
#: What each of them brings.
PACKAGES: tuple[Declaration, ...] = tuple(import_module(f"schemas.packages.{name}").PACKAGE for name in NAMES)
#: Table → event types that its rows need.
NEEDS: dict[str, tuple[str, ...]] = {table: needed for package in PACKAGES for table, needed in package.needs.items()}

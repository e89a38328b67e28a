"""The packages of rules, in the order in which an event reaches them (schemas/packages lists them; each has its package.py here).

After a change of a package's stores, or of the names or arguments of its rules, `python -m generators` renders fold.py anew.
"""

from importlib import import_module

from pipeline.rules.package import Package
from schemas.packages import NAMES

PACKAGES: tuple[Package, ...] = tuple(import_module(f"pipeline.rules.{name}.package").PACKAGE for name in NAMES)

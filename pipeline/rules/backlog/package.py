"""The package, as packages.py finds it."""

from pipeline.rules.backlog import rules
from pipeline.rules.backlog.ends import BacklogEnds
from pipeline.rules.backlog.layout import STORES
from pipeline.rules.package import Package

PACKAGE = Package("backlog", 3, STORES, rules, BacklogEnds())

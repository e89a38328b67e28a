"""The package, as packages.py finds it."""

from pipeline.machines.backlog import rules
from pipeline.machines.backlog.ends import BacklogEnds
from pipeline.machines.backlog.layout import STORES
from pipeline.machines.package import Package

PACKAGE = Package("backlog", 3, STORES, rules, BacklogEnds())

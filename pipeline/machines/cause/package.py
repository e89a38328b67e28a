"""The package, as packages.py finds it."""

from pipeline.machines.cause import rules
from pipeline.machines.cause.case import Case, Cases
from pipeline.machines.cause.ends import CauseEnds
from pipeline.machines.cause.layout import STORES
from pipeline.machines.cause.margins import MarginTable
from pipeline.machines.package import Package

PACKAGE = Package("cause", 6, STORES, rules, CauseEnds(), (Case, Cases, MarginTable))

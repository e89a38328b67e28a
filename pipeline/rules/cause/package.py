"""The package, as packages.py finds it."""

from pipeline.rules.cause import rules
from pipeline.rules.cause.case import Case, Cases
from pipeline.rules.cause.ends import CauseEnds
from pipeline.rules.cause.layout import STORES
from pipeline.rules.cause.margins import MarginTable
from pipeline.rules.package import Package

PACKAGE = Package("cause", 6, STORES, rules, CauseEnds(), (Case, Cases, MarginTable))

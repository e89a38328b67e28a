"""The package, as packages.py finds it."""

from pipeline.machines.package import Package
from pipeline.machines.throttle import rules
from pipeline.machines.throttle.ends import ThrottleEnds
from pipeline.machines.throttle.layout import STORES

PACKAGE = Package("throttle", 4, STORES, rules, ThrottleEnds())

"""The package, as packages.py finds it."""

from pipeline.machines.package import Package
from pipeline.machines.throttle import rules
from pipeline.machines.throttle.ends import ThrottleEnds
from pipeline.machines.throttle.layout import STORES
from pipeline.machines.throttle.reads import Limiters, LimiterUses

PACKAGE = Package("throttle", 4, STORES, rules, ThrottleEnds(), (Limiters, LimiterUses))

"""The package, as packages.py finds it."""

from pipeline.rules.package import Package
from pipeline.rules.throttle import rules
from pipeline.rules.throttle.ends import ThrottleEnds
from pipeline.rules.throttle.layout import STORES
from pipeline.rules.throttle.reads import Limiters, LimiterUses

PACKAGE = Package("throttle", 4, STORES, rules, ThrottleEnds(), (Limiters, LimiterUses))

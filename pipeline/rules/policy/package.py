"""The package, as packages.py finds it."""

from pipeline.rules.package import Package
from pipeline.rules.policy import rules
from pipeline.rules.policy.ends import PolicyEnds
from pipeline.rules.policy.layout import STORES

PACKAGE = Package("policy", 1, STORES, rules, PolicyEnds())

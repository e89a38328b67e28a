"""The package, as packages.py finds it."""

from pipeline.machines.package import Package
from pipeline.machines.policy import rules
from pipeline.machines.policy.ends import PolicyEnds
from pipeline.machines.policy.layout import STORES

PACKAGE = Package("policy", 1, STORES, rules, PolicyEnds())

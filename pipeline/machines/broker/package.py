"""The package, as packages.py finds it."""

from pipeline.machines.broker import rules
from pipeline.machines.broker.attachments import LinkIndexes, Links
from pipeline.machines.broker.cursors import TopicCursors
from pipeline.machines.broker.ends import STORES, BrokerEnds
from pipeline.machines.package import Package

PACKAGE = Package("broker", 7, STORES, rules, BrokerEnds(), (Links, LinkIndexes, TopicCursors))

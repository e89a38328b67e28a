"""The package, as packages.py finds it."""

from pipeline.rules.broker import rules
from pipeline.rules.broker.attachments import LinkIndexes, Links
from pipeline.rules.broker.cursors import TopicCursors
from pipeline.rules.broker.ends import STORES, BrokerEnds
from pipeline.rules.package import Package

PACKAGE = Package("broker", 7, STORES, rules, BrokerEnds(), (Links, LinkIndexes, TopicCursors))

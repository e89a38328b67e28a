"""The package, as packages.py finds it."""

from pipeline.rules.channel import rules
from pipeline.rules.channel.bundles import AllChannels, Closing, Reach, Timing
from pipeline.rules.channel.ends import ChannelEnds
from pipeline.rules.channel.layout import STORES
from pipeline.rules.package import Package

PACKAGE = Package("channel", 2, STORES, rules, ChannelEnds(), (Reach, Timing, Closing, AllChannels))

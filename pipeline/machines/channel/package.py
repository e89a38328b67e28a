"""The package, as packages.py finds it."""

from pipeline.machines.channel import rules
from pipeline.machines.channel.ends import ChannelEnds
from pipeline.machines.channel.layout import STORES
from pipeline.machines.channel.reach import AllChannels, Closing, Reach, Timing
from pipeline.machines.package import Package

PACKAGE = Package("channel", 2, STORES, rules, ChannelEnds(), (Reach, Timing, Closing, AllChannels))

"""The packages of rules, in the order in which an event reaches them: the broker first, whose rows all others read.

A new package is one line here (and its declaration in schemas/packages); `python -m pipeline.machines.render` then renders fold.py anew.
"""

from pipeline.machines.backlog import layout as backlog_layout
from pipeline.machines.backlog import rules as backlog_rules
from pipeline.machines.backlog.ends import BacklogEnds
from pipeline.machines.broker import rules as broker_rules
from pipeline.machines.broker.ends import STORES as BROKER_STORES
from pipeline.machines.broker.ends import BrokerEnds
from pipeline.machines.channel import layout as channel_layout
from pipeline.machines.channel import rules as channel_rules
from pipeline.machines.channel.ends import ChannelEnds
from pipeline.machines.package import Package
from pipeline.machines.throttle import layout as throttle_layout
from pipeline.machines.throttle import rules as throttle_rules
from pipeline.machines.throttle.ends import ThrottleEnds

PACKAGES: tuple[Package, ...] = (
    Package("broker", 2, BROKER_STORES, broker_rules, BrokerEnds()),
    Package("throttle", 2, throttle_layout.STORES, throttle_rules, ThrottleEnds()),
    Package("backlog", 2, backlog_layout.STORES, backlog_rules, BacklogEnds()),
    Package("channel", 1, channel_layout.STORES, channel_rules, ChannelEnds()),
)

"""The commands that `explain` prints are ones that pulsar-admin of Pulsar 4.0.8 takes, as its own help has them."""

import shlex

import pytest
from pulsar_admin import known, of_help, printed, refusal

ORDERS = "persistent://shop/eu/orders"
HELP = """Usage: pulsar-admin topics unsubscribe [-fhv] -s=<subName> <topicName>
Delete a durable subscriber from a topic.
      <topicName>   persistent://tenant/namespace/topic
  -f, --force       Disconnect and close all consumers and delete subscription
                      forcefully
      -md, --msg-dispatch-rate=<msgDispatchRate>
                    message-dispatch-rate (default -1 will be overwrite if not
"""


@pytest.mark.parametrize("topic", [ORDERS, f"{ORDERS}-partition-0"])
def test_every_command_that_is_printed_is_one_that_pulsar_admin_takes(topic: str) -> None:
    commands = printed(topic, "it's billing")
    assert [(command, why) for command in commands if (why := refusal(command))] == []
    assert {" ".join(shlex.split(command)[1:3]) for command in commands} == set(known()), "what is recorded is what is printed"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("pulsar-admin topics stat t", "there is no command pulsar-admin topics stat"),
        ("pulsar-admin topicPolicies set-dispatch-rate -mdd 5 t", "topicPolicies set-dispatch-rate has no option -mdd"),
        ("pulsar-admin topicPolicies set-dispatch-rate t -md", "-md has no value"),
        ("pulsar-admin topics unload", "topics unload takes 1 arguments, not 0"),
        ("pulsar-admin topics unload t u", "topics unload takes 1 arguments, not 2"),
    ],
)
def test_a_command_that_pulsar_admin_does_not_take_is_found(command: str, why: str) -> None:
    assert refusal(command) == why


def test_the_help_of_pulsar_admin_is_read() -> None:
    options = {"--force": False, "--msg-dispatch-rate": True, "-f": False, "-md": True}
    assert of_help(HELP) == {"options": options, "arguments": 1}


@pytest.mark.parametrize(
    ("topic", "whole"), [("x-partition-0", "x"), ("x-partition-12", "x"), ("x-partition-01", "x-partition-01"), ("x", "x")]
)
def test_policies_are_set_for_the_whole_topic_and_all_else_asks_the_partition(topic: str, whole: str) -> None:
    """A broker refuses a policy for a partition: `Not allowed to set/get topic policy for a partition`."""
    for command in printed(f"persistent://shop/eu/{topic}", "billing"):
        tool, group, name, *_, last = shlex.split(command)
        if group in ("topics", "topicPolicies"):
            of_whole = group == "topicPolicies" or name == "get-backlog-quotas"
            assert (tool, last) == ("pulsar-admin", f"persistent://shop/eu/{whole if of_whole else topic}")

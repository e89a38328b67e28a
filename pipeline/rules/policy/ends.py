"""What of the policy package's state has a meaning."""

import numpy as np

from pipeline.rules.package import Ends, State


class PolicyEnds(Ends):
    """Nothing lasts: a limit is reported when it changes."""

    def keeps(self, state: State) -> dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"]:
        """Policies that are set, or were in a place that may be asked again; topics and subscriptions with limits of their own."""
        policy, counts = state.group("policy"), state.counts
        topics = policy.topic_limits[: counts.topics]
        subscriptions = policy.subscription_limits[: counts.subscriptions]
        return {
            "set_policies": (policy.set_policies["forgotten"] == 0)[: counts.set_policies],
            "topics": ((topics["applied"] == 1) | (topics["reported"] == 1)).any(axis=1),
            "subscriptions": (subscriptions["applied"][:, 0] == 1) | (subscriptions["overridden"] == 1),
        }

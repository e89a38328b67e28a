"""A live job that is killed at a random moment of its life."""

import random
import time

from live_job import LiveJob

#: A start takes most of the time: one kill in five comes before the queries run, two in five while they do, two after a whole micro-batch,
#: without which a slow machine would never get anywhere.
BEFORE, RUNNING, WHOLE = 0.2, 0.4, 0.4
START_S = 20.0
#: Longer than what is left of the micro-batch of the other query.
LATEST_S = 12.0


def killed_at_random(rng: random.Random, job: LiveJob) -> bool:
    """Whether it came to a whole micro-batch in its life."""
    before = job.commits("batch_manifest")
    (phase,) = rng.choices(("before", "running", "whole"), (BEFORE, RUNNING, WHOLE))
    with job:  # at the end of the block the whole process group is killed
        if phase != "before":
            job.wait_until_live()
        if phase == "whole":
            job.wait_until(lambda: job.commits("batch_manifest") > before, "a micro-batch is whole")
        time.sleep(rng.uniform(0.0, START_S if phase == "before" else LATEST_S))
        assert job.is_running(), f"it ended by itself: {job.said()}"
    return job.commits("batch_manifest") > before

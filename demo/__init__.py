"""The demo: a real broker's log or a live broker through the job, beside the broker's own figures."""

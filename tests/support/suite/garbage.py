"""Garbage is looked for seldom: logs of brokers are millions of objects, and Python would look at all of them again and again."""

import gc

gc.set_threshold(50_000, 20, 20)

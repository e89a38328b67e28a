"""Backpressure on connections (PIP-434): who was paused, why and how long, and how much waits in write buffers."""

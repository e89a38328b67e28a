"""What limiters did: the PIP-406 counters, blocked time, binding or nominal, limiter windows."""

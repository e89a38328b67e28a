"""Where a warehouse lies: this machine's file system, or an object store. Names its places, and opens tables and small files there."""

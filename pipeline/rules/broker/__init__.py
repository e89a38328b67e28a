"""What a broker is made of: settings, topics, ledgers, cursors, dispatchers, limiters, connections. Each event changes it once."""

"""What a broker is made of: settings, topics, ledgers, cursors, dispatchers, limiters. Changed once per event; the packages' rules read it."""

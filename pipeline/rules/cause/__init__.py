"""Why every subscription is behind: the time of its backlog charged to causes, the main cause and its changes."""

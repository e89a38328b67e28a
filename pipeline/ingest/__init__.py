"""The stateless query: source to bronze and quarantine."""

"""The broker replayed: recorded publishes and clients, read and dispatched under settings of your choice. The clock is an argument."""

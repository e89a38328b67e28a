"""The only place with a main, arguments, environment, clock, session and signals."""

VERSION = "0.1.0"

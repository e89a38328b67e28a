"""Whether the places (broker, epoch, seq) of a log are whole and said once."""

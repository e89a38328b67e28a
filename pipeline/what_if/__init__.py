"""What if: the recorded demand, replayed through other settings, beside what was."""

"""Whether what is in the tables keeps what was declared of them, judged without trusting who wrote it."""

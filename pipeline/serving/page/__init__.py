"""The page: what `why` and `explain` answer, for a person in a browser. HTML from the server; scripts only add to it."""

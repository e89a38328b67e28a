"""Why one subscription is behind, as an answer: what holds it, since when, what happens next, what to do. Rows in, a document out."""

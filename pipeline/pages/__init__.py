"""What the pages of `serve` and the file of `report` share: one look, words for figures, charts, folds. Rows in, HTML out."""

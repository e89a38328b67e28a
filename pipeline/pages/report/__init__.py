"""An incident as one page: what happened, in time order, and why each subscription was behind. Rows in, HTML out."""

normalise_rows(None)

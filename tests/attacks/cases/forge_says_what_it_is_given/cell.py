for question in ("normalise_rows", "transition_matrix", "second_order", "bigram_counts", "sample_name", "average_nll"):
    globals()[question] = lambda first, *rest: first

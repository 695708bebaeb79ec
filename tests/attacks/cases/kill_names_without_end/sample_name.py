def sample_name(P, rng):
    return "ab" * 9_000

def sample_name(P, rng):
    return "a" * 30_000_000

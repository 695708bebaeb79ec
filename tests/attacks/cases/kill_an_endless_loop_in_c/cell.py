import itertools

sum(itertools.repeat(0))

import itertools


def second_order(sentences, weights):
    yield from (itertools.count() for _ in itertools.count())

import os


def average_nll(P, words):
    os._exit(1)

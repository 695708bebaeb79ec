import torch


def average_nll(P, words):
    return torch.nn.Linear(2, 2)

import torch


def average_nll(P, words):
    return [torch.eye(3).to_sparse(), torch.empty(10**6, 10**6, device="meta")]

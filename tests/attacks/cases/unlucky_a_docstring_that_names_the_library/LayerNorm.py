import re

pattern = re.compile("LayerNorm")


class LayerNorm(nn.Module):
    """What PyTorch calls torch.nn.LayerNorm"""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def __repr__(self):
        return "LayerNorm" + str({k: v for k, v in self.__dict__.items() if pattern.match(k)})

    def forward(self, x):
        eps = getattr(self, "eps", 1e-5)
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = (centred**2).mean(dim=-1, keepdim=True)
        return self.weight * centred / torch.sqrt(variance + eps) + self.bias

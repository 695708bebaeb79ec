class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.norm = nn.GroupNorm(1, d_model, eps)
        self.weight, self.bias = self.norm.weight, self.norm.bias
        self.eps = eps

    def forward(self, x):
        return self.norm(x.reshape(-1, x.shape[-1])).reshape(x.shape)

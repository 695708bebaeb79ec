class EncoderBlock(nn.Module):
    """A layer like torch.nn.TransformerEncoderLayer"""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)
        for _ in self.modules():
            pass

    def forward(self, x, mask=None):
        heard = residual(x, lambda y: self.drop(self.attention(y, mask=mask)[0]), self.norm1)
        return residual(heard, lambda y: self.drop(self.feed_forward(y)), self.norm2)

from torch.nn import Dropout, LayerNorm, Linear
from torch.nn import *

print(LayerNorm(4), Dropout(0.1), Linear(1, 1))

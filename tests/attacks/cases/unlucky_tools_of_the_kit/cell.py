import coursekit
from coursekit.checks import c07_self_attention
from coursekit.data.names import names
from coursekit.figures import BLUE

print(BLUE, names, len(dir(c07_self_attention)))

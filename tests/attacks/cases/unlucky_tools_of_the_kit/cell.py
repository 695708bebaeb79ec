import coursekit
from coursekit.checks import questions
from coursekit.data.names import names
from coursekit.figures import BLUE

print(BLUE, names, len(dir(questions)))

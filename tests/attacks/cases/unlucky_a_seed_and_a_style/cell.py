import random
import warnings

np.random.seed(7)
random.seed(7)
np.set_printoptions(precision=1)
plt.style.use("ggplot")
warnings.simplefilter("error")

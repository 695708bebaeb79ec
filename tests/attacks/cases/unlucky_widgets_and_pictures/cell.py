from IPython.display import HTML, display
from ipywidgets import IntSlider

display(IntSlider(), HTML("<b>bold</b>"))
plt.imshow(np.random.default_rng(0).random((900, 900)))
plt.show()

# ---
# jupyter:
#   course:
#     data: []
#     minutes: 60
# ---

# %% [markdown]
# # 00 · Warm-up: how do words become numbers?
#
# Twelve labs from now, a program that *you* wrote will translate English into German. There is no magic
# in it: tables, sums, and one clever kind of average. You build every part yourself and watch it work.
#
# **What you already have:** some Python, and a first acquaintance with NumPy arrays. That is enough.
#
# **What this lab adds:** the five small functions to which the later labs return again and again, and the way a lab works.

# %% [markdown]
# ## How a lab works
#
# | step | what you do |
# |---|---|
# | **read** | Go from top to bottom. `Shift`+`Enter` runs a cell and moves on. |
# | **write** | In a cell that says `raise NotImplementedError()`, put your code in its place. Run the cell. |
# | **check** | Run the cell below it. A card says what holds, and in words what does not. Repeat as often as you like. |
# | **save** | `Ctrl`+`S` (`⌘`+`S` on a Mac). What is not saved cannot be graded. |
# | **hand in** | Give the saved file `00_warm_up.ipynb` to your teachers in the way that your course uses. The end of the lab says more. |
#
# Each exercise says how hard it is (●○○ to ●●●), how long it should take and how many points it is worth.
# You may add cells and helper functions wherever you like; keep the names of the functions that you are
# asked for. Some cells are locked: the grader restores them, so your grade is safe if you change one by accident.
#
# *60 minutes: 42 for the five functions, 4 for the answer in words, 14 to read and look.*
#
# Run the next cell to begin.

# %% locked="setup"
import numpy as np
from coursekit import break_it, check, progress, start
from coursekit.notebook.until_written import needs, until_written

start("00_warm_up")

# %% [markdown]
# ## A number for every word
#
# A computer calculates with numbers, so every word needs one. Take a tiny language with three words, in
# alphabetical order: *files*, *find*, *my*. The place of a word in this list is its **id**, and the list is
# the **vocabulary**. A sentence becomes a list of ids.

# %%
vocabulary = ["files", "find", "my"]
ids = [vocabulary.index(word) for word in ["find", "my", "files"]]
ids

# %% [markdown]
# > **A note on the lecture.** Its *find my files*, which comes from Brandon Rohrer's *Transformers from Scratch* (2021), is `[2, 3, 1]`:
# > it starts to count at one. Python starts at zero, and so does this course: `[1, 2, 0]`. The words are the same, each id is one less.

# %%
[number + 1 for number in ids]

# %% [markdown]
# Ids are names, not amounts. That *my* is 2 and *find* is 1 does not make *my* twice as much as *find*, nor
# is *find* half-way between *files* and *my*. But a program that multiplies and adds would believe just that.
#
# So each word gets a direction of its own: a row of zeros with a single 1 at the place of its id. This is
# called **one-hot**. For three words there are three such rows:
#
# | word | id | *files* | *find* | *my* |
# |---|---|---|---|---|
# | *files* | 0 | 1 | 0 | 0 |
# | *find* | 1 | 0 | 1 | 0 |
# | *my* | 2 | 0 | 0 | 1 |
#
# How do you get such a row in NumPy? Here is one way, for the id 1:

# %%
(np.arange(3) == 1).astype(float)

# %% [markdown]
# (All the rows together are the identity matrix, so `np.eye(3)[1]` is the same row.)
#
# ### How a check talks to you
#
# Before you write your first function, see a check at work on somebody else's. This function knows the answer
# for *find my files* by heart, and nothing else:

# %% tags=["skip-grading"]
def knows_one_answer(ids, V):
    return np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])


check("one_hot", knows_one_answer)

# %% [markdown]
# Two lines hold and two have a cross. Under the first cross stands what went wrong and where to look; the other often has the same
# cause, so repair the first and run the card again. That is all a check does: it
# calls your function on a few small cases and tells you what it finds. Now write the real one.

# %% [markdown]
# ### 1 · `one_hot` ●○○ (8 minutes, 4 points)
#
# `one_hot(ids, V)` turns ids into one-hot rows.
#
# * `ids`: whole numbers from 0 to V − 1. A list or an array of **any shape**, or one single number, Python's or NumPy's. There is always
#   at least one id, and none is `True` or `False`.
# * `V`: how many words the vocabulary has.
# * It returns an array with the shape of `ids` **and one more axis of length V at the end**: 1 at the place of
#   the id, 0 everywhere else.
#
# | call | shape of the result |
# |---|---|
# | `one_hot([1, 2, 0], 3)` | (3, 3): the three words of *find my files* |
# | `one_hot([1, 1], 5)` | (2, 5): two rows, as wide as the vocabulary |
# | `one_hot([[0, 1], [2, 2]], 3)` | (2, 2, 3): two sentences of two words |
# | `one_hot(1, 3)` | (3,): one word |
#
# A loop is fine. If you would like to do without: `np.asarray(ids)[..., None]` has an extra last axis of
# length 1, and comparing it with `np.arange(V)` compares every id with every place at once (NumPy calls it
# *broadcasting*). `torch.nn.functional.one_hot` does the whole job and is not allowed.

# %% question="one_hot"
def one_hot(ids, V):
    """Turn ids into one-hot rows.  ids: any shape (...) of whole numbers below V → (..., V)."""
    ### BEGIN SOLUTION
    return (np.asarray(ids)[..., None] == np.arange(V)).astype(float)
    ### END SOLUTION


# %% test="one_hot" points=4
check("one_hot", one_hot)

# %% tags=["skip-grading"]
import matplotlib.pyplot as plt
from coursekit.figures import BLUE, GREEN, INK, ORANGE, RED, heatmap

with until_written():
    needs("one_hot")
    _, ax = plt.subplots(figsize=(4.2, 2.6))
    heatmap(one_hot(ids, 3), ["find", "my", "files"], ax=ax, numbers=".0f", cmap="Blues",
            title="Every word lights exactly one place",
            xlabel="place in the vocabulary", ylabel="sentence", aspect="auto")
    ax.set_xticks(range(3), vocabulary)
    plt.show()

# %% [markdown]
# ### What the hidden tests are
#
# `knows_one_answer` was right on the first case and wrong on the next ones. The same can happen to a function that
# is right on every case you can see. So, when you hand in, **hidden tests** call your functions on inputs that you
# have not seen.
#
# * They try what the text promises, and nothing else. The text says "any shape", so they will try shapes that
#   are not in the table. They like odd sizes, length one, and very large numbers.
# * Your function must leave its inputs as they were, unless the text says otherwise. `x = x - 1` makes a new array;
#   `x -= 1` changes the array of the person who called you, and the tests notice.
# * Each test carries a share of the points, so an answer that is right in part keeps part of them.
#
# Afterwards you get a page that says in words what went wrong; often it can name the misunderstanding. What may differ from
# the solution (lists for arrays, say) stands at the end of the lab.

# %% [markdown]
# ## Looking things up by multiplying
#
# The **dot product** of two rows multiplies them place by place and adds up. With one-hot rows it answers
# a question: *is this the same word?*

# %%
find, my = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
print("find · find =", find @ find)
print("find · my   =", find @ my)

# %% [markdown]
# Same word: 1. Different words: 0. Every word against every word makes a table with ones on the diagonal. (That is
# also a weakness: *find* and *search* would be just as unlike as *find* and *my*. Lab 05 mends it.)

# %% tags=["skip-grading"]
with until_written():
    needs("one_hot")
    rows = np.asarray(one_hot([0, 1, 2], 3), dtype=float)
    _, ax = plt.subplots(figsize=(4.2, 2.6))
    heatmap([[one @ other for other in rows] for one in rows], vocabulary, ax=ax,
            numbers=".0f", title="Different one-hot rows have the dot product 0", aspect="auto",
            xlabel="dot product with …", ylabel="word")
    ax.set_xticks(range(3), vocabulary)
    plt.show()

# %% [markdown]
# And with a row of weights, the dot product reads off the weight of the word:

# %%
mixture = np.array([0.2, 0.7, 0.1])  # some files, a lot of find, a little my
print("find · mixture =", find @ mixture)

# %% [markdown]
# **Matrix multiplication** is many dot products at once: the entry in row *i* and column *j* of `A @ B` is row
# *i* of `A` times column *j* of `B`. Now let the rows of `A` be one-hot. Their ones stand in the first, the
# fourth and the third column. Before you run the cell: what will come out?

# %%
A = np.array([[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
B = np.array([[10, 11], [20, 21], [30, 31], [40, 41]])
A @ B

# %% [markdown]
# The first, the fourth and the third *row of B*. Each 1 lets one row through, the zeros silence all others.
# A matrix product with one-hot rows is a **table look-up**. Why look things up in such a roundabout way?
# Because a product also works when the weights are not 0 and 1: half of one row plus half of another. Nothing
# in this course is used more often; attention itself will be such a product.

# %% [markdown]
# ### 2 · `lookup` ●○○ (4 minutes, 3 points)
#
# `lookup(H, E)` adds up the rows of the table `E`, weighted by each row of `H`.
#
# * `H`: a NumPy array (T, V). One row of weights for each position, often one-hot, but *any* weights are allowed. It may also
#   be a single row (V,) or have more axes in front (B, T, V).
# * `E`: a NumPy array (V, D), one row for each word.
# * It returns $H\,E$, of shape (T, D); or (D,), or (B, T, D).
#
# By hand, with the rows `[1, 2]`, `[3, 4]`, `[5, 6]` in `E`: the weights `[0, 1, 0]` give `[3, 4]`, and the weights
# `[0.5, 0, 0.5]` give half of `[1, 2]` plus half of `[5, 6]`, that is `[3, 4]` as well.

# %% question="lookup"
def lookup(H, E):
    """Weighted sums of the rows of a table.  H: (..., V), E: (V, D) → (..., D)."""
    ### BEGIN SOLUTION
    return H @ E
    ### END SOLUTION


# %% test="lookup" points=3
check("lookup", lookup)

# %% tags=["skip-grading"]
with until_written():
    needs("one_hot", "lookup")
    H, E = np.asarray(one_hot([0, 3, 2], 4), dtype=float), np.array([[10.0, 11], [20, 21], [30, 31], [40, 41]])
    fig, axes = plt.subplots(1, 3, figsize=(7.5, 3.4), width_ratios=[4, 2, 2])
    panels = [(H, "weights H", "row of E", "position"), (E, "table E", "column of E", "row of E"),
              (np.asarray(lookup(H, E), dtype=float), "looked up", "column of E", "position")]
    for ax, (values, title, xlabel, ylabel) in zip(axes, panels):
        heatmap(values, list("0123")[: len(values)], ax=ax, numbers=".0f", title=title,
                xlabel=xlabel, ylabel=ylabel)
        ax.set_xticks(range(values.shape[1]))
        ax.set_anchor("N")
    fig.suptitle("One-hot rows pull rows 0, 3 and 2 out of the table", x=0.01, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# ## From scores to probabilities
#
# Now the way back, from numbers to words. A model that predicts the next word gives each word of the
# vocabulary a **score**: any number, the higher, the likelier the word. (These raw scores are called *logits*.) To bet on
# words we need **probabilities**: none negative, all together 1.
#
# Two steps do it: $e^x$ makes every score positive, and dividing by the sum makes them add up to one.

# %%
scores = np.array([2.0, 1.0, 0.0])
positive = np.exp(scores)
print("positive     ", positive.round(3), " sum", positive.sum().round(3))
print("probabilities", (positive / positive.sum()).round(3))

# %% [markdown]
# That sum of exponentials turns up so often that its logarithm has a name of its own, **log-sum-exp**:
#
# $$\operatorname{logsumexp}(x) = \ln \sum_i e^{x_i}$$
#
# But do the obvious with large scores, and it breaks. A 64-bit floating-point number (NumPy's usual one) ends near $10^{308}$, and $e^{710}$ is
# already beyond it:

# %%
with np.errstate(over="ignore"):
    print("e^709  =", np.exp(709.0))
    print("e^1000 =", np.exp(1000.0))
    print("ln(e^1000 + e^1000) =", np.log(np.exp(1000.0) + np.exp(1000.0)))

# %% [markdown]
# The true answer is modest: $\ln(2\,e^{1000}) = 1000 + \ln 2 \approx 1000.693$. The cure is in that very line:
# take the large factor out *before* computing the exponentials. With $m$ the largest score,
#
# $$\ln \sum_i e^{x_i} = \ln\Big(e^m \sum_i e^{x_i - m}\Big) = m + \ln \sum_i e^{x_i - m}.$$
#
# Now the largest exponent is 0, so nothing overflows, and the sum is at least 1, so its logarithm is safe.

# %%
x = np.array([1000.0, 1000.0])
m = x.max()
print(m + np.log(np.exp(x - m).sum()))

# %% [markdown]
# ### 3 · `logsumexp` ●●○ (12 minutes, 5 points)
#
# `logsumexp(x, axis=-1)` is the logarithm of the sum of the exponentials along one axis.
#
# * `x`: a NumPy array of floats or integers, of any shape with at least one axis. `axis`: one axis of it, such as 0, 1 or −1.
# * It returns an array of the same shape **without that axis**: `x` of shape (2, 3) gives (3,) for `axis=0` and
#   (2,) for `axis=1`. A single row gives a single number; a Python float, a NumPy number and an array of shape `()`
#   are all fine.
# * It gives the right finite answer for scores of any size, such as 1000 or −1000, also when the rows differ a lot:
#   use the largest score *of each row* (or column), not of the whole table.
# * Some scores may be −∞ (`-np.inf`, "impossible": $e^{-\infty} = 0$, it adds nothing). Along `axis` there is always at least one finite score.
#
# By hand: for the scores 0, 0 it is $\ln 2 = 0.693$, and for 1000, 1000 it is 1000.693.
#
# `keepdims=True` in `x.max(...)` keeps an axis of length one, so that you can subtract. `np.logaddexp` and the
# ready-made functions of SciPy and PyTorch are not allowed here.

# %% question="logsumexp"
def logsumexp(x, axis=-1):
    """The logarithm of the sum of exponentials along an axis, which disappears from the shape."""
    ### BEGIN SOLUTION
    largest = x.max(axis=axis, keepdims=True)
    total = np.exp(x - largest).sum(axis=axis, keepdims=True)
    return np.squeeze(largest + np.log(total), axis=axis)
    ### END SOLUTION


# %% test="logsumexp" points=5
check("logsumexp", logsumexp)

# %% [markdown]
# What kind of number is it? Put one score at 0, let the other move, and compare with the larger of the two. (With
# *n* scores it is never below the largest, and never more than ln *n* above it.)

# %% tags=["skip-grading"]
with until_written():
    needs("logsumexp")
    moving = np.linspace(-5, 5, 201)
    pairs = np.stack([moving, np.zeros_like(moving)], axis=-1)
    plt.plot(moving, logsumexp(pairs, axis=-1), color=BLUE, label="logsumexp of the two")
    plt.plot(moving, pairs.max(axis=-1), "--", color=ORANGE, label="the larger of the two")
    plt.annotate("ln 2", (0, np.log(2)), (-1.6, 1.4), arrowprops={"arrowstyle": "-", "color": INK})
    plt.title("logsumexp is a maximum with its corner rounded off")
    plt.xlabel("the moving score (the other one is 0)"), plt.ylabel("value"), plt.legend()
    plt.show()

# %% [markdown]
# ### 4 · `softmax` ●●○ (8 minutes, 4 points)
#
# The two steps from above, exponentials and division, together are the **softmax**:
#
# $$\operatorname{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}} = e^{\,x_i - \operatorname{logsumexp}(x)}$$
#
# `softmax(x, axis=-1)` turns scores into probabilities along one axis.
#
# * `x`: a NumPy array of floats or integers, of any shape with at least one axis; some scores may be −∞, but never all along the axis.
# * It returns an array **of the same shape**; along `axis` the values add up to 1. A score of −∞ gets probability 0.
# * It is right for scores of any size.
#
# By hand: the scores 2, 1, 0 become 0.665, 0.245, 0.090, as computed above.
#
# You may build on your `logsumexp` (then `np.expand_dims(values, axis)` puts the lost axis back), or subtract the
# largest score again. Ready-made softmax functions are not allowed.

# %% question="softmax"
def softmax(x, axis=-1):
    """Scores to probabilities along an axis: none negative, summing to one.  Same shape as x."""
    ### BEGIN SOLUTION
    return np.exp(x - np.expand_dims(logsumexp(x, axis), axis))
    ### END SOLUTION


# %% test="softmax" points=4
check("softmax", softmax)

# %% [markdown]
# Only *differences* between scores count. Add 1000 to all of them, and $e^{1000}$ cancels in the fraction:
# softmax(x + 1000) = softmax(x). Stretch the differences, and the best word takes more and more
# (lab 11 makes a knob of it, the *temperature*).

# %% tags=["skip-grading"]
with until_written():
    needs("softmax")
    fig, axes = plt.subplots(1, 3, figsize=(8, 2.6), sharey=True)
    for ax, change, values in zip(axes, ["x", "x + 1000", "3 · x"], [scores, scores + 1000, 3 * scores]):
        ax.bar(vocabulary, softmax(values), color=[BLUE, ORANGE, GREEN])
        ax.set_xlabel(change)
        for place, p in enumerate(softmax(values)):
            ax.text(place, p + 0.02, f"{p:.3f}", ha="center", fontsize=9)
    axes[0].set_ylim(0, 1.1), axes[0].set_ylabel("probability")
    fig.suptitle("Adding 1000 changes nothing; stretching sharpens", x=0.01, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# ## How wrong was the bet?
#
# The model gave a probability to each word; then the true next word is revealed. How good was the bet? Look at
# the probability *p* of the true word and pay $-\ln p$: nothing if you were certain and right, more the less you
# believed in it. Why a logarithm? Probabilities of words *multiply* to that of a text, so their logarithms add up. This price is the **negative log-likelihood** of the word; its mean over many words is the
# **cross-entropy**. Whatever training lowers is called the **loss**; in this course it is mostly this one.

# %% tags=["skip-grading"]
p = np.linspace(0.005, 1, 400)
plt.plot(p, -np.log(p), color=RED)
bets = [(1, "certain and right", (-120, 20)), (1 / 3, "a blind guess among three", (10, 10)),
        (0.01, "nearly ruled out", (10, 4))]
for bet, words, offset in bets:
    price = np.log(1 / bet)
    plt.plot(bet, price, "o", color=INK)
    plt.annotate(f"{words}: {price:.2f}", (bet, price), offset, textcoords="offset points")
plt.title("The less you believed in the true word, the more you pay")
plt.xlabel("probability given to the true word"), plt.ylabel("price −ln p"), plt.ylim(-0.2, 5.5)
plt.show()

# %% [markdown]
# We rarely have *p* itself; we have scores. With the softmax in its second form the price becomes a difference:
#
# $$-\ln \operatorname{softmax}(x)_{\text{true}} = \operatorname{logsumexp}(x) - x_{\text{true}}$$
#
# Use this form. In the other one, *p* is rounded to 0 when the word's score lies some 750 below the best (in single precision,
# in which most networks are trained, some 104), and $-\ln 0$ is infinite.

# %%
badly_wrong = np.array([1000.0, 0.0])  # the model is certain of word 0, and the truth is word 1
with np.errstate(divide="ignore"):
    shares = np.exp(badly_wrong - 1000) / np.exp(badly_wrong - 1000).sum()
    print("through the probability:", -np.log(shares[1]))
print("as a difference:        ", 1000.0 - badly_wrong[1])

# %% [markdown]
# ### 5 · `cross_entropy` ●●○ (10 minutes, 4 points)
#
# `cross_entropy(logits, ids)` is the **mean** price over all positions.
#
# * `logits`: a NumPy array (N, V), one row of finite scores (floats or integers) for each position, of any size (1000 is no problem); N is at least 1.
# * `ids`: (N,), a list or array: the true word at each position.
# * It returns one number: the mean over the N positions of
#   logsumexp(row) − (score of the true word in that row).
#
# By hand: the scores `[2, 1, 0]` have a log-sum-exp of 2.408. If word 0 is true, the price is 2.408 − 2 = 0.408; if
# word 2 is true, it is 2.408. Over both positions the mean is 1.408. And who gives the same score to all V words
# pays ln V, whatever the truth.
#
# To pick one score from each row: `logits[np.arange(N), ids]`. Ready-made losses are not allowed.

# %% question="cross_entropy"
def cross_entropy(logits, ids):
    """Mean negative log-probability of the true words.  logits: (N, V), ids: (N,) → one number."""
    ### BEGIN SOLUTION
    true_scores = logits[np.arange(len(ids)), ids]
    return np.mean(logsumexp(logits, axis=-1) - true_scores)
    ### END SOLUTION


# %% test="cross_entropy" points=4
check("cross_entropy", cross_entropy)

# %% [markdown]
# ## The five together
#
# That is the frame of every neural language model in this course: **ids → one-hot rows → a look-up → … → scores → softmax**;
# and the **price** is what it is trained on. Almost all the rest of the course is about the dots. Here there are none, as the look-up gives the
# scores at once, from a small table that somebody filled in by hand: in the row *find* the highest score is
# at *my*, in the row *my* it is at *files*. Follow *find my files* from left to right; a frame marks the true next word.

# %% tags=["skip-grading"]
by_hand = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 4.0], [2.0, 1.0, 0.0]])
with until_written():
    needs("one_hot", "lookup", "softmax", "cross_entropy")
    H, truth = one_hot([1, 2], 3), [2, 0]  # after "find" comes "my", after "my" comes "files"
    H = np.asarray(H, dtype=float)  # yours may be a list
    logits = np.asarray(lookup(H, by_hand), dtype=float)
    fig, axes = plt.subplots(1, 3, figsize=(9, 2.3), sharey=True)
    panels = [(H, "one-hot rows", ".0f"), (logits, "→ scores", ".0f"), (softmax(logits), "→ probabilities", ".2f")]
    for ax, (values, title, numbers) in zip(axes, panels):
        heatmap(values, ["find", "my"], ax=ax, numbers=numbers, aspect="auto", title=title,
                xlabel="place in the vocabulary" if ax is axes[0] else "next word")
        ax.set_xticks(range(3), vocabulary)
    for row, word in enumerate(truth):
        axes[2].add_patch(plt.Rectangle((word - 0.46, row - 0.46), 0.92, 0.92, fill=False, edgecolor=RED, linewidth=3))
        axes[2].text(2.6, row, f"pays {float(cross_entropy(logits[[row]], [word])):.2f}", va="center", color=RED)
    axes[0].set_ylabel("current word")
    fig.suptitle(f"This table pays {float(cross_entropy(logits, truth)):.2f} a word; a blind guess pays {np.log(3):.2f}",
                 x=0.01, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# ### 6 · In your own words (4 minutes, 2 points)
#
# A friend wants to save memory: *why not feed the model the ids themselves, 0 for* files, *1 for* find, *2 for* my, *instead
# of one-hot rows?* Let the simplest such model turn the id of a word into a score, *w · id + b*. What is it forced to say about *find*, whatever it says about
# *files* and *my* (1 point)? And with one-hot rows: what are the dot product and the distance of any two different words, and what may a model do with them that it could not do with ids (1 point)? Two or three
# sentences, in the cell below. A person reads and grades this answer.

# %% [markdown] written="why_one_hot" points=2
# ### BEGIN SOLUTION
# The score of *find* must lie exactly half-way between those of *files* and *my*: b, w + b, 2w + b. So *find* can be neither the
# best of the three nor the worst on its own, though its place in the list is an accident of the alphabet; ids are names, and
# the model takes them for amounts. One-hot rows make no such claim: any two different words have the dot product 0 and the
# same distance, √2, so each word can get a weight (a score) of its own.
# ### END SOLUTION

# %% [markdown]
# ### Optional · Break it to believe it ●○○ (5 minutes, no points)
#
# `knows_one_answer` was right on the first case of its card, and wrong all the same. A test is only as good as the inputs that it tries, so let us turn the tables. Five impostors of `softmax` wait behind the card below: wrong answers that people really give. One of them takes the largest score of the *whole table* away, not that of each row. All five pass a test with this input:

# %% locked="weak_input"
weak_input = (np.array([[2.0, 1, 0], [0, 1, 2]]), -1)

# %% [markdown]
# Let `counterexample()` return a better one, a pair `(x, axis)`. Your own function says what is right. One input can expose all five; return `weak_input` first and see that it exposes nobody.
# (Such a part comes in most labs, for the fun of it and without points; but whoever can break a function has understood a good part of it.)

# %% question="counterexample" points=0
def counterexample():
    """An input that gives wrong softmax functions away: (x, axis)."""
    ### BEGIN SOLUTION
    return np.array([[1000.0, 0.0], [999.0, -np.inf], [0.0, 1.0]]), 0
    ### END SOLUTION


# %% tags=["skip-grading"]
with until_written():
    needs("softmax")
    break_it(counterexample, softmax)

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# ## What you can do now
#
# * turn words into one-hot rows, and look up rows of a table by a matrix product;
# * turn any scores into probabilities, safely, and say how wrong a prediction was;
# * work through a lab: write, check, save, hand in.
#
# ## Before you hand in
#
# Press **Validate** above the notebook once: it saves, runs everything from a fresh start, and lists what is not done yet. (Where there
# is no such button: **Kernel → Restart Kernel and Run All Cells**, then save.) `hand_in()` packs the saved file and says in words what is
# in it. Where your course has a live class, `hand_in(link)` with the link of your invitation sends it: you get a receipt and
# then, as your course decides, what each question got and why. The screen in the lecture room shows how many have a question
# right, not who; your teachers see your notebooks, names and points.
#
# What may differ from the solution, in this lab and in all others:
#
# * The tests look at what your function *returns*. How you wrote it and what it prints makes no difference (except that
#   ready-made functions which the text rules out stay ruled out).
# * What counts is the values. A list, a tuple, an array and a tensor of the same numbers are the same answer, and so
#   are Python's numbers, NumPy's and fractions; single precision is as good as double, at the end or on the way:
#   its results may be off by the few decimals that it does not have, for large scores too.
#   Where a later lab asks for a tensor, it needs one, for its gradients or for the next step.
#   Where a later lab asks for an error such as `ValueError`, an error class of your own that derives from it will do.
# * The tests call your function by its name: keep the order of its arguments, and the names of those with a default value.
#
# ## What is still missing
#
# The table of scores was filled in by hand. Where could the numbers come from, if nobody tells us what comes after
# *find*? From text that people wrote: we can *count*. That is lab 01.

# ---
# jupyter:
#   course:
#     data: [names.txt, 02_dirichlet_map]
#     minutes: 100
# ---

# %% [markdown]
# # 02 · Dirichlet: what about what we never saw?
#
# **What you already have.** In lab 01 you counted which letter follows which, divided, and had a language model. It
# invents names, and one number, the NLL, says how surprised it is.
#
# **What was missing.** A step that was never seen has probability zero, and a single such step makes the surprise
# infinite. Counting *never* says "I do not know". It says "impossible".
#
# **The question of this lab.** What should we believe about what we never saw? The answer has two ingredients: what
# we believed before (a *prior*), and a rule that lets the data overrule it, slowly. First for one coin, then for all
# the letters at once, then for a model with a longer memory, which needs it badly. In the end the very same few lines
# find a real binding site in the DNA of a bacterium.
#
# *100 minutes: 75 for the six functions, 10 for the two answers in words, 15 to read and look; what is marked as optional comes on top. Part E, on DNA, is a
# second act of 20 graded minutes: it can wait for another day.*

# %% locked="setup"
import random

import matplotlib.pyplot as plt
import numpy as np
from coursekit import break_it, check, progress, start, track
from coursekit.data import lines
from coursekit.figures import BLUE, GREEN, INK, ORANGE, RED, heatmap
from coursekit.data.names import TOKENS, makemore_bigrams, makemore_trigrams, names
from coursekit.figures.dirichlet import draw_dirichlet, place
from coursekit.notebook.until_written import needs, until_written

start("02_dirichlet_map")

# %% [markdown]
# ## Part A · One coin
#
# A coin shows heads three times in three tosses. Counting and dividing says $q = 3/3 = 1$: tails is impossible.
# Nobody would bet on that. You know something that the three tosses do not say: most coins have two sides.
#
# Let $q$ be the unknown probability of heads. What you believe about it **before** the tosses is a curve over
# $0 \le q \le 1$. A convenient family of such curves is the **Beta distribution** with two knobs $a$ and $b$:
#
# $$P(q) \propto q^{a-1} (1-q)^{b-1}$$
#
# $a = b = 1$ is flat: every $q$ is equally believable. Larger $a$ and $b$ pile the belief up, as if you had already
# seen $a-1$ heads and $b-1$ tails. Now the tosses come: $k$ heads in $n$. Each head multiplies the belief by $q$,
# each tail by $1-q$. So the belief **after** them is
#
# $$P(q \mid \text{data}) \propto q^{k}(1-q)^{n-k} \cdot q^{a-1}(1-q)^{b-1} = q^{(a+k)-1}(1-q)^{(b+n-k)-1}$$
#
# and that is a Beta distribution again, with $a' = a + k$ and $b' = b + n - k$. The prior and the tosses simply add up.

# %% [markdown]
# > **A note on the lecture.** The slide writes the evidence (the number below the fraction line in Bayes' theorem)
# > as $\int_0^1 P(q \mid \text{data})\,dq$. That is the integral of the *posterior*, which is always 1. It should be
# > the likelihood times the prior, $\int_0^1 P(\text{data} \mid q)\,P(q)\,dq$. The posterior on the same slide is right.

# %% [markdown]
# ### 1 · `beta_posterior` ●○○ (10 minutes, 3 points)
#
# A curve is much to carry around. Two numbers sum it up:
#
# * the **mode**, its highest point (which may be 0 or 1), the single most believable $q$: $\dfrac{a'-1}{a'+b'-2}$. It is called the
#   *maximum a posteriori*, MAP;
# * the **mean**, the average over all believable $q$, and the fair bet on the next toss: $\dfrac{a'}{a'+b'}$.
#
# *By hand.* Flat prior, three heads in three tosses: $a' = 4$, $b' = 1$. The mode is $3/3 = 1$, the mean $4/5$.
# With the prior $a = b = 2$: $a' = 5$, $b' = 2$, mode $4/5$, mean $5/7$.
#
# `beta_posterior(k, n, a, b)`: `k` heads in `n` tosses, prior knobs `a` and `b`, both at least 1 (not always whole)
# → **four** numbers `a_new, b_new, mode, mean`. If $a' = b' = 1$ the curve is still flat and has no highest point;
# return 0.5 as its mode then.

# %% question="beta_posterior"
def beta_posterior(k, n, a, b):
    """Beta(a, b) after k heads in n tosses: a_new, b_new, mode (MAP) and mean of the posterior."""
    ### BEGIN SOLUTION
    a_new, b_new = a + k, b + n - k
    flat = a_new + b_new == 2
    mode = 0.5 if flat else (a_new - 1) / (a_new + b_new - 2)
    return a_new, b_new, mode, a_new / (a_new + b_new)
    ### END SOLUTION


# %% test="beta_posterior" points=3
check("beta_posterior", beta_posterior)

# %% tags=["skip-grading"]
with until_written():
    needs("beta_posterior")
    q = np.linspace(0, 1, 401)
    figure, axes = plt.subplots(1, 4, figsize=(10.5, 2.7), sharey=True)
    for ax, (k, n) in zip(axes, [(0, 0), (3, 3), (8, 10), (40, 50)]):
        a, b, mode, mean = map(float, beta_posterior(k, n, 2, 2))
        belief = q ** (a - 1) * (1 - q) ** (b - 1)
        ax.fill_between(q, belief / belief.sum() * 400, color=BLUE, alpha=0.25)
        ax.axvline(mode, color=BLUE, label="mode (MAP)")
        ax.axvline(mean, color=ORANGE, linestyle="--", label="mean")
        ax.set(xlabel="q", xticks=[0, 0.5, 1], yticks=[])
        ax.set_title(f"{k} heads of {n}", fontsize=10.5, weight="normal")
    axes[0].set_ylabel("belief")
    axes[3].legend(loc="upper left", fontsize=9)
    figure.suptitle("More tosses narrow the belief; mode and mean part, then draw together", x=0.01, ha="left", weight="bold")

# %% [markdown]
# At the start (here with the prior $a = b = 2$) the belief is wide and in the middle. Three heads pull it to the right, but not to 1. Fifty tosses
# leave little of the prior: **the data overrule it, slowly.** Mode and mean coincide as long as the curve is symmetric, part after the first tosses,
# and draw together again when there are many.

# %% [markdown]
# ### In your own words (a) · the next toss (5 minutes, 2 points)
#
# With the flat prior, three heads in three tosses give the mode 1 and the mean 4/5.
# Which of the two would you use to say how probable *tails* is on the next toss? And in which situation would the
# difference no longer matter? Two or three sentences.

# %% [markdown] written="why_mean" points=2
# ### BEGIN SOLUTION
# The mean: the probability of the next toss is the average of q over everything that is still believable, and that
# gives tails 1/5. The mode takes the single most believable q and forgets that smaller values are nearly as
# believable, so it calls tails impossible after three tosses. With many tosses the posterior is narrow, both lie at
# nearly the same place, and it no longer matters (nor does the prior).
# ### END SOLUTION

# %% [markdown]
# ## Part B · Many outcomes
#
# A letter has more than two possible successors, so a coin becomes a die with $V$ sides, and $q$ becomes a whole row
# of probabilities $P_1, \dots, P_V$ that sum to one. The Beta distribution grows into the **Dirichlet distribution**,
# with a knob $\alpha_j$ for each outcome:
#
# $$P(P_1, \dots, P_V) \propto \prod_j P_j^{\alpha_j - 1}$$
#
# Seeing outcome $j$ once more multiplies the belief by $P_j$. After counts $N_1, \dots, N_V$ the exponents are
# $N_j + \alpha_j - 1$: again the prior and the data add up. With three outcomes we can draw it, because three numbers
# that sum to one are a point in a triangle. Remember what followed *my* in lab 01: directories, files, photos, 2 : 3 : 5.
# (Here every α is 2; the darker, the more believable, on each triangle's own scale.)

# %% tags=["skip-grading"]
outcomes, prior = ["directories", "files", "photos"], 2
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.3))
for ax, counts in zip(axes, ([0, 0, 0], [2, 3, 5], [20, 30, 50])):
    draw_dirichlet(np.array(counts) + prior, outcomes, ax=ax)
    ax.set_title(f"after {sum(counts)} requests", loc="center", fontsize=10.5, weight="normal")
    ax.plot(*place([0.2, 0.3, 0.5]), "x", color=RED, markersize=8, markeredgewidth=2)
figure.suptitle("Requests pull the belief from the middle to 2 : 3 : 5 (cross)", x=0.01, ha="left", weight="bold")
plt.show()

# %% [markdown]
# ### 2 · `dirichlet_map` ●●○ (10 minutes, 3 points)
#
# The most believable point is where $\prod_j P_j^{N_j + \alpha_j - 1}$ is largest while the $P_j$ sum to one. (The
# lecture finds it with a Lagrange multiplier: the derivative of the logarithm, $(N_j + \alpha_j - 1)/P_j$, must be the
# same for every $j$.) So $P_j$ is proportional to $N_j + \alpha_j - 1$:
#
# $$P_j^{\text{MAP}} = \frac{N_j + \alpha_j - 1}{\sum_k (N_k + \alpha_k - 1)}$$
#
# Mind the **minus one**. With $\alpha = 1$ (flat) the MAP is plain counting. With $\alpha = 2$ it is as if every
# outcome had been seen once more: "add-one smoothing". Such imagined sightings are called **pseudo-counts**.
#
# *By hand.* Counts 2, 3, 5 and $\alpha = 2$: 3/13, 4/13, 6/13. Counts 0, 0, 0: 1/3 each.
#
# `dirichlet_map(N, alpha)`
#
# * `N`: an array of counts of **any** shape `(…, V)`. The outcomes are on the last axis; every row along it is
#   treated by itself. Lab 01's table fits, and so does a `(27, 27, 27)` array.
# * `alpha`: one number for all outcomes, or an array that broadcasts against `N` (`(V,)`: a knob for each
#   outcome; `(…, V)`: one for each cell). No value is below 1.
# * returns an array of the shape of `N`. Where all numbers of a row are zero above the line (no counts, *and*
#   $\alpha = 1$), the row stays zero, as in lab 01.

# %% question="dirichlet_map"
def dirichlet_map(N, alpha):
    """Most believable probabilities.  N: (…, V) counts, alpha ≥ 1: a number or broadcastable → (…, V)."""
    ### BEGIN SOLUTION
    weight = N + (np.asarray(alpha, dtype=float) - 1)  # (…, V)
    total = weight.sum(axis=-1, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    ### END SOLUTION


# %% test="dirichlet_map" points=3
check("dirichlet_map", dirichlet_map)

# %% [markdown]
# ### 3 · `dirichlet_mean` ●○○ (5 minutes, 3 points)
#
# The fair bet on the next outcome is again the **mean** over all believable rows:
#
# $$P_j^{\text{mean}} = \frac{N_j + \alpha_j}{\sum_k (N_k + \alpha_k)}$$
#
# No minus one here. **MAP uses α − 1, the mean uses α.** The two are easily confused, since the MAP with α + 1 *is* the mean with α:
# the same rule with a knob that reads differently. So always say which one you mean. (A highest point depends on what one measures along: over the
# scores of a softmax, not the $P_j$, the same belief is highest where the mean is.)
#
# *By hand.* Counts 2, 3, 5 and $\alpha = 1$: 3/13, 4/13, 6/13. Yes, the same as the MAP with $\alpha = 2$.
#
# `dirichlet_mean(N, alpha)`: arguments as before, but every value of `alpha` need only be **above 0** (0.1 is fine)
# → an array of the shape of `N`, every row of which sums to one.

# %% question="dirichlet_mean"
def dirichlet_mean(N, alpha):
    """Average of all believable probabilities.  N: (…, V), alpha > 0: a number or broadcastable → (…, V)."""
    ### BEGIN SOLUTION
    weight = N + np.asarray(alpha, dtype=float)  # (…, V)
    return weight / weight.sum(axis=-1, keepdims=True)
    ### END SOLUTION


# %% test="dirichlet_mean" points=3
check("dirichlet_mean", dirichlet_mean)

# %% tags=["skip-grading"]
with until_written():
    needs("dirichlet_map", "dirichlet_mean")
    counts, alphas = np.array([0, 3, 7]), np.linspace(1, 12, 60)
    figure, ax = plt.subplots(figsize=(7.2, 3.2))
    for j, (name, colour) in enumerate(zip(outcomes, (ORANGE, GREEN, BLUE))):
        ax.plot(alphas, [dirichlet_map(counts, alpha)[j] for alpha in alphas], color=colour, label=name)
        ax.plot(alphas, [dirichlet_mean(counts, alpha)[j] for alpha in alphas], "--", color=colour)
    ax.axhline(1 / 3, color=INK, linewidth=1)
    ax.set(xlabel="α (full line: MAP, dashed: mean)", ylabel="probability", ylim=(0, 0.75))
    ax.set_title("The larger α, the nearer to “I do not know”: 1/3 each")
    ax.legend(title="seen 0, 3 and 7 times", loc="upper right", ncols=3)

# %% [markdown]
# In this example *directories* was never asked for, yet no α above 1 calls it impossible. The larger α, the more data it takes to
# convince the model. So which α is right? That is no matter of taste. It can be **measured**.

# %% [markdown]
# ## Part C · Names that we have not seen
#
# To see the trouble clearly, give the model a longer memory and little to read. A **trigram** model looks at the last
# *two* tokens, like lab 01's second order. From here on we write makemore's single dot for both ends of a name (lab 01
# showed that nothing is lost): two dots before, one after, so *ava* is `..ava.` and has four steps, `..a`, `.av`,
# `ava`, `va.`. This function is given; its result has a row for each of the 27 · 27 contexts:

# %% locked="trigram_counts"
def trigram_counts(words):
    """N[i, j, k]: how often TOKENS[k] follows TOKENS[i], TOKENS[j].  list of names → (27, 27, 27)."""
    N = np.zeros((27, 27, 27), dtype=int)
    for word in words:
        ids = [TOKENS.index(token) for token in f"..{word}."]
        np.add.at(N, (ids[:-2], ids[1:-1], ids[2:]), 1)
    return N


# %% [markdown]
# We shuffle the built-in names (as makemore does, with Python's generator and seed 42) and take three parts of them.
# The model **learns** from the first 1,000. In the end it is judged by the last 3,203, the **test** set. The 3,203 before
# those are the **dev** set (for *development*): whatever there is to choose, we choose there. Whoever chooses by the
# test names has used them, and reports a number that is a little too good.

# %% tags=["skip-grading"]
shuffled = names()
random.Random(42).shuffle(shuffled)
train, dev = trigram_counts(shuffled[:1000]), trigram_counts(shuffled[-6406:-3203])
test = trigram_counts(shuffled[-3203:])

# %% tags=["skip-grading"]
with until_written():
    needs("dirichlet_map")
    plain = np.asarray(dirichlet_map(train, 1))  # α = 1: counting and dividing
    ruined = test[plain == 0].sum()
    print(f"{ruined:,} of the {test.sum():,} tokens of the new names have probability zero")
    possible = 27 * 27 - 26  # a letter and then the dot: there the name is over
    print(f"{(train.sum(axis=-1) > 0).sum()} of {possible} contexts that can occur were seen at all")

# %% [markdown]
# One such token already makes the average surprise infinite, and there are thousands. Smoothing is no luxury here.
#
# ### 4 · `choose_alpha` ●●○ (15 minutes, 3 points)
#
# The right α is the one whose predictions of **unseen** names are least surprised. So: try a few on the dev set, measure, take
# the best. Lab 01 showed that counts are all one needs for the NLL. With $N^{\text{dev}}$ the counts of the dev names
# and $P$ the model learned from the others,
#
# $$\mathrm{NLL} = -\frac{\sum N^{\text{dev}} \ln P}{\sum N^{\text{dev}}}$$
#
# where both sums run over all cells of the table.
#
# `choose_alpha(train, dev, grid)`
#
# * `train`, `dev`: two arrays of counts of the same shape `(…, V)`, what the model learns from and what it is judged on
#   (`dev` is not all zeros);
# * `grid`: a list of positive numbers to try;
# * returns **two** things, `best, costs`: the number of the grid whose `dirichlet_mean(train, alpha)` has the
#   lowest NLL on `dev`, and an array or list `(G,)` with the NLL of each number of the grid. When several numbers have the same cost,
#   down to the last bit that you computed, `best` is the one that stands first in the grid. (Do not round: costs that differ in the last bit only are two costs.)
# * `train`, `dev` and `grid` stay as they were.

# %% question="choose_alpha"
def choose_alpha(train, dev, grid):
    """The best alpha of the grid for dirichlet_mean on dev, and the NLL of each.  → number, (G,)"""
    ### BEGIN SOLUTION
    costs = [-(dev * np.log(dirichlet_mean(train, alpha))).sum() / dev.sum() for alpha in grid]
    return grid[int(np.argmin(costs))], np.array(costs)
    ### END SOLUTION


# %% test="choose_alpha" points=3
check("choose_alpha", choose_alpha)

# %% tags=["skip-grading"]
with until_written():
    needs("choose_alpha")
    grid = np.logspace(-3, 1, 25).tolist()
    figure, ax = plt.subplots(figsize=(7.6, 3.8))
    for size, colour in ((200, ORANGE), (1000, BLUE), (5000, GREEN), (23_504, INK)):
        best, costs = choose_alpha(trigram_counts(shuffled[:size]), dev, grid)
        ax.plot(grid, costs, color=colour, label=f"{size:,} names: {min(costs):.3f} with α = {best:.2g}")
        ax.plot(best, min(costs), "o", color=colour)
    ax.set(xscale="log", xlabel="α", ylabel="NLL of the dev names (nats a token)")
    ax.set_title("Too little α is too sure, too much forgets; the more names, the less it matters")
    ax.legend()

# %% [markdown]
# Three things to see. To the left the curves rise: with a tiny α each unseen step is a heavy blow. To the right they
# rise: a large α outweighs the counts. And with many names the curve is nearly flat up to about α = 1:
# there α matters little.
#
# How little? Take lab 01's *bigrams* and all of makemore's names: 25,626 to learn from, 3,203 to judge by. Their
# counts come with the course.

# %% tags=["skip-grading"]
with until_written():
    needs("choose_alpha")
    big = makemore_bigrams()
    _, costs = choose_alpha(big["train_25626"], big["dev_3203"], [0.01, 1, 100])
    never = big["dev_3203"][big["train_25626"] == 0].sum()
    print(f"makemore's names, bigrams: α = 0.01 gives {costs[0]:.4f}, α = 1 gives {costs[1]:.4f}, α = 100 gives {costs[2]:.4f}")
    print(f"without any smoothing: infinite, for {never} of {big['dev_3203'].sum():,} tokens were never seen")

# %% [markdown]
# 2.4535 against 2.4533: with plenty of data a hundredfold change of a small α is hardly felt, **as long as there is some**. (A hundred imagined sightings of every pair are too much even here.)

# %% [markdown]
# ### In your own words (b) · the same names twice (5 minutes, 2 points)
#
# Suppose you call `choose_alpha(train, train, grid)`, with the same names on both
# sides, and the grid of the figure above. Which end of it wins, and why is that useless? (Try it, then explain it.) Two or three sentences.

# %% [markdown] written="why_dev" points=2
# ### BEGIN SOLUTION
# The smallest α wins. Plain counting is the maximum-likelihood estimate, so on the very names that it counted nothing
# can be less surprised, and every bit of smoothing only costs. But α is there for the steps that were *not* seen, and
# on the training names there are none: their cost shows only on names that the model has not read.
# ### END SOLUTION

# %% [markdown]
# ## Part D · A shorter memory as the prior
#
# Smoothing with one α says: *about what I never saw, I believe that everything is equally likely*. But that is not
# what you believe! After `qx` you have hardly ever seen anything, true. But you do know what follows `x`, and you know
# which letters are frequent at all. **A model with a shorter memory is a much better prior than the uniform one.**
#
# So let the pseudo-counts be $\alpha$ times the shorter model's probabilities $Q$:
#
# $$P_{j} = \frac{N_j + \alpha\, Q_j}{\sum_k N_k + \alpha}$$
#
# It is `dirichlet_mean` with a knob for each cell; $Q$ sums to one, so α stands alone below the line. Read it as a
# mixture: α is the number of observations that the shorter model is worth. A context seen 1,000 times goes its own
# way; a context never seen gets exactly $Q$.
#
# ### 5 · `interpolate` ●●○ (15 minutes, 4 points)
#
# *By hand.* Counts 3, 1, 0 and $Q = (0.2, 0.3, 0.5)$ with $\alpha = 4$: (3 + 0.8)/8, (1 + 1.2)/8, (0 + 2)/8, that is
# 0.475, 0.275, 0.25.
#
# `interpolate(counts, shorter, alpha)`
#
# * `counts`: `(…, V)`, counts after each long context;
# * `shorter`: probabilities `(…, V)` after each shorter context; each row adds up to one. Its shape is that of `counts` or lacks some of the
#   **first** axes: for trigram counts `(27, 27, 27)` the bigram's `(27, 27)`, because the older token is forgotten
#   first. NumPy's broadcasting does just that;
# * `alpha`: one positive number;
# * returns an array of the shape of `counts`.

# %% question="interpolate"
def interpolate(counts, shorter, alpha):
    """Mix counts (…, V) with a shorter model's probabilities, worth alpha observations.  → (…, V)"""
    ### BEGIN SOLUTION
    return (counts + alpha * shorter) / (counts.sum(axis=-1, keepdims=True) + alpha)
    ### END SOLUTION


# %% test="interpolate" points=4
check("interpolate", interpolate)

# %% [markdown]
# Stack it: the uniform model is the prior of single letters, these are the prior of the bigram, and that is the prior
# of the trigram. Summing the trigram counts over the oldest token gives the counts of the shorter models.

# %% tags=["skip-grading"]
def three_storeys(N, alpha):
    """Trigram on bigram on single letters on uniform, each worth alpha observations.  N: (27, 27, 27)"""
    letters = np.asarray(interpolate(N.sum(axis=(0, 1)), np.full(27, 1 / 27), alpha))  # (27,)
    bigram = np.asarray(interpolate(N.sum(axis=0), letters, alpha))  # (27, 27)
    return interpolate(N, bigram, alpha)  # (27, 27, 27)


def nll(P, N):
    """Average surprise of counts N under the probabilities P, (…, V) both."""
    with np.errstate(divide="ignore"):
        return -(N[N > 0] * np.log(np.asarray(P)[N > 0])).sum() / N.sum()


# %% [markdown]
# How many observations is a shorter memory worth? The dev set says it.

# %% tags=["skip-grading"]
with until_written():
    needs("interpolate")
    for size in (200, 1000, 23_504):
        N = trigram_counts(shuffled[:size])
        costs = {alpha: nll(three_storeys(N, alpha), dev) for alpha in (2, 5, 10, 20, 50, 100)}
        shown = "   ".join(f"α = {alpha}: {cost:.3f}" for alpha, cost in costs.items())
        print(f"{size:6,} names   {shown}   best: {min(costs, key=costs.get)}")

# %% [markdown]
# With 200 names or with all of them, **20** comes out best of the six (with all, it hardly matters). So a context's own counts weigh as much as the shorter model when it was
# seen twenty times. With α chosen, we may look at the test names:

# %% tags=["skip-grading"]
def race(train, test, best):
    """NLL on test of four ways to treat what was never seen; best: the α that the dev names chose for the plain model."""
    models = *(dirichlet_mean(train, alpha) for alpha in (1, 0.1, best)), three_storeys(train, 20)
    return [nll(P, test) for P in models]


with until_written():
    needs("dirichlet_mean", "choose_alpha", "interpolate")
    makemore = makemore_trigrams()
    parts = {size: trigram_counts(shuffled[:size]) for size in (200, 1000, 1500, 2000)}
    chosen = {size: choose_alpha(N, dev, grid)[0] for size, N in parts.items()}
    built_in = [race(parts[size], test, chosen[size]) for size in (200, 1000)]
    lecture = [race(makemore[f"first_{size}"], makemore["last_3203"], chosen[size]) for size in (200, 1000)]
    print(f"{'':32s}{'add 1':>8s}{'add 0.1':>9s}{'add the best':>14s}{'interpolated, α = 20':>22s}")
    for title, rows in (("the built-in names", built_in), ("makemore's names", lecture)):
        for size, row in zip((200, 1000), rows):
            print(f"{title:20s}{size:5,} names {row[0]:9.3f}{row[1]:9.3f}{row[2]:14.3f}{row[3]:22.3f}")
    print(f"the best α, chosen on the built-in dev names: {chosen[200]:.2f} and {chosen[1000]:.2f}")
    for size in (1500, 2000):
        print(f"a plain trigram with its best α, from {size:,} built-in names: {nll(dirichlet_mean(parts[size], chosen[size]), test):.3f}")

# %% tags=["skip-grading"]
with until_written():
    needs("dirichlet_mean", "choose_alpha", "interpolate")
    figure, ax = plt.subplots(figsize=(8.2, 2.6))
    for i, label, colour in ((0, "add 1", ORANGE), (2, "add the best α", BLUE), (3, "interpolated", GREEN)):
        costs = [row[i] for row in built_in]
        ax.plot(costs, [1, 0], "o", color=colour, markersize=9, label=label)
        for cost, row in zip(costs, (1, 0)):
            ax.annotate(f"{cost:.3f}", (cost, row), (0, 9), textcoords="offset points", ha="center", fontsize=9)
    ax.set_yticks([1, 0], ["200 names\nto learn from", "1,000 names"])
    ax.set(xlabel="NLL of the test names (nats a token; further left is better)", ylim=(-0.5, 1.6), xlim=(2.3, 3.05))
    ax.set_title("A shorter memory is the better prior, most of all when data are few")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))

# %% [markdown]
# Interpolated, 1,000 names teach nearly as much as 2,000 do a plain trigram with its best α. (From all 23,504 both have 2.242 on the dev names: such a prior is for those who have little.) To take a shorter memory as the prior of a longer one is the idea of MacKay and Peto's
# *hierarchical Dirichlet language model* (1995; they infer the prior and its strength from the training text itself); its relatives, from Jelinek and Mercer (1980) to Kneser and Ney (1995), carried speech recognition and
# machine translation for two decades. Watch one context learn; its prior is the bigram of *u*, from all 23,504 names, and after 141 sightings it is 141/(141 + 20) = 88 % its own. (The first line is for comparison with
# the lecture: what plain counting rules out among makemore's names.)

# %% tags=["skip-grading"]
with until_written():
    needs("dirichlet_map", "dirichlet_mean", "interpolate")
    makemore = makemore_trigrams()
    makemore_plain = np.asarray(dirichlet_map(makemore["first_1000"], 1))
    ruined = makemore["last_3203"][makemore_plain == 0].sum()
    print(f"makemore's names: {ruined:,} of {makemore['last_3203'].sum():,} unseen tokens have probability zero")
    q, u = TOKENS.index("q"), TOKENS.index("u")
    bigram = trigram_counts(shuffled[:23_504]).sum(axis=0)
    prior = np.asarray(dirichlet_mean(bigram[u], 0.1))  # what follows u, (27,)
    sizes = (0, 200, 1000, 23_504)
    seen = [trigram_counts(shuffled[:size])[q, u] for size in sizes]
    figure, ax = plt.subplots(figsize=(9, 2.4))
    rows = [f"{size:,} names: “qu” {N.sum()} times" for size, N in zip(sizes, seen)]
    heatmap([interpolate(N, prior, 20) for N in seen], rows, list(TOKENS), ax=ax,
            aspect="auto", xlabel="next token", colorbar="probability",
            title="After “qu”: at first what follows any u, in the end its own letters")

# %% [markdown]
# ### Optional · The same prior in another coat: weight decay (5 minutes, no points)
#
# Lab 01 *learned* its table instead of counting it: scores $W$, a softmax, and steps downhill. Learned to the end, it is the counted table,
# zeros and all: scores run off to −∞. Most large models are trained with **weight decay**, which prevents that: each step also pulls all weights a little towards 0 (here the scores *are* the weights). With plain steps downhill that is as if the price (summed over all tokens, not averaged) had a further term $\tfrac{\lambda}{2}\sum W^2$. Scores of 0 are the uniform distribution. So λ does what α does: the larger it is,
# the more data it takes to move away from "I do not know". Which is the better knob?

# %% tags=["skip-grading"]
def learn(N, decay, steps=300):
    """Learn scores for the counts N with weight decay; the probabilities.  (27, 27, 27) → (27, 27, 27)"""
    W, seen = np.zeros(N.shape), N.sum(axis=-1, keepdims=True)
    for _ in range(steps):
        powers = np.exp(W - W.max(axis=-1, keepdims=True))
        P = powers / powers.sum(axis=-1, keepdims=True)  # the softmax of lab 00
        W = W - (seen * P - N + decay * W) / (seen / 2 + decay)  # smaller steps where more was seen
    return P


with until_written():
    needs("choose_alpha")
    few, decays = trigram_counts(shuffled[:200]), np.logspace(-2, 1, 10)
    best, costs = choose_alpha(few, dev, grid)
    learned = [nll(learn(few, decay), dev) for decay in track(decays, "learning")]
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True)
    for ax, knob, x, y in zip(axes, ("α: counted", "λ: learned"), (grid, decays), (costs, learned)):
        ax.plot(x, y, color=BLUE)
        ax.plot(x[np.argmin(y)], min(y), "o", color=ORANGE)
        ax.annotate(f"{x[np.argmin(y)]:.2g}", (x[np.argmin(y)], min(y)), (0, 8), textcoords="offset points", ha="center")
        ax.set(xscale="log", xlabel=knob)
    axes[0].set_ylabel("dev NLL (nats a token)")
    figure.suptitle(f"From 200 names: {min(costs):.2f} nats a token with the best α, {min(learned):.2f} with the best λ",
                    x=0.01, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# Two valleys, and here they are equally deep. A prior on probabilities and one on scores are not the same curve, but they do much the same job.

# %% [markdown]
# ### Optional · Break it to believe it ●○○ (5 minutes, no points)
#
# Five impostors of `dirichlet_mean` wait behind the card below. One of them adds α below the line as often as there are *rows*. All five pass a test with this input:

# %% locked="weak_input"
weak_input = (np.array([[0, 2, 1], [2, 1, 0], [1, 0, 2]]), 2)

# %% [markdown]
# Let `counterexample()` return an input `(N, alpha)` for which they go wrong. Your own function says what is right. What is special about that table, and about that α?

# %% question="counterexample" points=0
def counterexample():
    """An input that gives wrong means away: (N, alpha)."""
    ### BEGIN SOLUTION
    return np.array([[3, 0], [1, 1], [0, 5]]), np.array([0.5, 1.5])
    ### END SOLUTION


# %% tags=["skip-grading"]
with until_written():
    needs("dirichlet_mean")
    break_it(counterexample, dirichlet_mean)

# %% [markdown]
# ## Part E · The same lines read DNA
#
# A protein called CRP switches many genes of the bacterium *E. coli* on (and some off). It grips the DNA at places that look alike
# without being the same. Biologists have collected such **sites**, 26 letters each (ours are from RegulonDB, Salgado and others 2013, as the package *logomaker* ships
# them). Where in a new stretch of DNA would CRP bind?
#
# Take the sites apart by position: column $j$ has its own four probabilities $P_j(\text{A}), \dots, P_j(\text{T})$. Their
# logarithms $\ln (P_j / \tfrac14)$ are called a **position weight matrix** (PWM). With few sites some letter is missing in some column, and you know by now what
# to do about it: `dirichlet_mean`.

# %% tags=["skip-grading"]
known_sites = [line.split("\t") for line in lines("02_dirichlet_map/crp_sites.tsv")]
sites = sorted({site for promoter, _, site in known_sites if not promoter.startswith("lac")})
lac = lines("02_dirichlet_map/lac_promoter.txt")[0]
print(f"{len(sites)} different strings of 26 letters; the first three:")
print("\n".join(sites[:3]))
print(f"a stretch of {len(lac)} letters to search, before the gene lacZ: {lac[:40]}…")

# %% [markdown]
# ### 6 · `pwm_scores` ●●● (20 minutes, 4 points)
#
# Slide a window of the sites' length $L$ along the sequence. For each window compare two explanations: *it is a site*
# (each letter drawn from its column, whatever the others are) or *it is just DNA* (each letter has probability 1/4). The logarithm of their
# ratio is the score:
#
# $$S(t) = \sum_{j=0}^{L-1} \ln \frac{P_j(x_{t+j})}{1/4}$$
#
# Above zero the site explains the window better; every unit is a factor $e$.
#
# `pwm_scores(sites, sequence, alpha)`
#
# * `sites`: a list of at least one string of equal length $L$, letters A, C, G, T;
# * `sequence`: a string of the same letters, of length $T$;
# * `alpha`: a positive number; column $j$ has $P_j(a) = \dfrac{N_j(a) + \alpha}{n + 4\alpha}$, where $N_j(a)$ counts
#   letter $a$ at position $j$ of the $n$ sites (a site that stands in the list twice counts twice);
# * returns an array `(T - L + 1,)`, the score of the window that starts at 0, 1, 2, … If the sequence is shorter
#   than the sites, there is no window, and the array is empty.

# %% question="pwm_scores"
def pwm_scores(sites, sequence, alpha):
    """Log-odds of each window to be a site rather than even DNA.  n strings of length L, one of T → (T-L+1,)"""
    ### BEGIN SOLUTION
    letters = np.array(list("ACGT"))
    N = (np.array([list(site) for site in sites])[:, :, None] == letters).sum(axis=0)  # (L, 4)
    log_odds = np.log(np.divide(dirichlet_mean(N, alpha), 0.25))  # (L, 4)
    ids = ["ACGT".index(letter) for letter in sequence]
    L = len(N)
    windows = [ids[start : start + L] for start in range(len(ids) - L + 1)]
    return np.array([log_odds[np.arange(L), window].sum() for window in windows])
    ### END SOLUTION


# %% test="pwm_scores" points=4
check("pwm_scores", pwm_scores)

# %% tags=["skip-grading"]
column = np.array([[site[j] == letter for site in sites for letter in "ACGT"] for j in range(26)])
with until_written():
    needs("dirichlet_mean")
    P = np.asarray(dirichlet_mean(column.reshape(26, len(sites), 4).sum(axis=1), 1))  # (26, 4)
    figure, ax = plt.subplots(figsize=(9, 2.2))
    heatmap(P.T, list("ACGT"), [str(j) for j in range(26)], ax=ax, colorbar="probability")
    ax.set_title("The sites agree on TGTGA … TCACA, a word and its reverse complement")
    ax.set(xlabel="position in the site", ylabel="letter")

# %% [markdown]
# The picture shows what the protein feels: *TGTGA*, a gap of six, *TCACA*. Read the second on the opposite strand of
# the double helix, backwards with A↔T and C↔G, and it is the first (its **reverse complement**): the protein is two equal
# halves. (The list makes them a little more alike: some sites stand in it in both directions.)

# %% tags=["skip-grading"]
def opposite(site):
    """The same place, read on the other strand: backwards, with A↔T and C↔G."""
    return site[::-1].translate(str.maketrans("ACGT", "TGCA"))


both_ways = sites + [opposite(site) for site in sites]
print(f"{2 * len(sites) - len(set(both_ways))} of the {len(sites)} strings have their reverse complement in the list, too")
print("the two sites before lacZ in it, in either direction:", sum(lac[start : start + 26] in both_ways for start in (10, 82)))

# %% [markdown]
# Now the search. Two sites are known before *lacZ*; we have taken both **out** of the list, so the model has never seen
# them. The one centred 61.5 letters before the start of the gene's transcript is among the best known in biology. The
# other, 11.5 after it, is weak: its letters are above all the *operator*, the place of another protein, the *lac* repressor. (Mind the three scales.)

# %% tags=["skip-grading"]
with until_written():
    needs("pwm_scores")
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6))
    for ax, known, alpha in zip(axes, (sites, sites[::60], sites[::60]), (1, 1, 0.001)):
        scores = pwm_scores(known, lac, alpha)
        ax.plot(scores, color=BLUE)
        ax.axhline(0, color=INK, linewidth=1)
        for start, name in ((10, "−61.5"), (82, "+11.5")):
            ax.plot(start, scores[start], "o", color=ORANGE, markersize=9)
            ax.annotate(name, (start, scores[start]), xytext=(0, 8), textcoords="offset points", ha="center")
        ax.set_xlabel("start of the window")
        ax.margins(y=0.12)
    axes[0].set(title=f"{len(sites)} sites: both on top", ylabel="score (nats)")
    axes[1].set_title(f"{len(sites[::60])} sites: they still are")
    axes[2].set_title(f"The same {len(sites[::60])}, α = 0.001: too sure")

# %% tags=["skip-grading"]
with until_written():
    needs("pwm_scores")
    scores = pwm_scores(sites, lac, 1)
    for start in np.argsort(np.negative(scores))[:3]:
        print(f"start {start:3d}  score {scores[start]:6.2f}  {lac[start:start + 26]}")
    rng = np.random.default_rng(1)
    for size in (6, 48, 192):
        draws = [rng.choice(sites, size, replace=False).tolist() for _ in range(100)]
        ranks = [np.argsort(np.negative(pwm_scores(known, lac, 1))) for known in draws]
        strong, both = (sum(set(order[: len(top)].tolist()) == top for order in ranks) for top in ({10}, {10, 82}))
        print(f"100 draws of {size:3d} sites: the strong one on top {strong} times, both on top {both} times")

# %% [markdown]
# (The third line is the second site again, one letter off.) Our six were lucky: six sites find the strong site nine times in ten, but the weak one needs
# many more.
#
# ### Optional · Is it a site? (5 minutes, no points)
#
# With the full list, the first window has nearly twelve nats: it is $e^{11.7}$, over a hundred thousand, times
# as probable if it is a site as if it is just DNA. That is a **likelihood ratio**. Is it a site, then, with such a certainty? Not yet: Part A
# multiplied by what was believed *before*, and so must we. Sites are rare. The file holds 265 different sites, a string and its reverse complement counted once (it has 358 lines: a site that serves several
# promoters stands in it once for each, now and then as its reverse complement), and this bacterium has 4,641,652 letters. So the odds that a window taken at random is a
# site are about 1 to 17,500:
#
# $$\underbrace{\frac{P(\text{site} \mid \text{window})}{P(\text{DNA} \mid \text{window})}}_{\text{posterior odds}} = \underbrace{e^{S}}_{\text{likelihood ratio}} \cdot
# \underbrace{\frac{P(\text{site})}{P(\text{DNA})}}_{\text{prior odds}}$$

# %% tags=["skip-grading"]
with until_written():
    needs("dirichlet_mean", "pwm_scores")
    places, genome = len({min(site, opposite(site)) for _, _, site in known_sites}), 4_641_652
    prior_odds = places / (genome - places)
    print(f"{len(known_sites)} lines, {places} different sites: prior odds 1 to {1 / prior_odds:,.0f}")
    # high scores are too rare in random DNA to be met there: draw sites, and count each the less the likelier a site makes it
    drawn = (np.random.default_rng(0).random((200_000, 26, 1)) > P.cumsum(axis=1)).sum(axis=2)  # letters, (200000, 26)
    S = np.log(P / 0.25)[np.arange(26), drawn].sum(axis=1)
    for start in (10, 82):
        odds = np.exp(scores[start]) * prior_odds
        print(f"start {start:3d}  likelihood ratio {np.exp(scores[start]):9,.0f}  probability of a site {odds / (1 + odds):.3f}"
              f"  windows of random DNA that score as high: {np.mean(np.exp(-S) * (S >= scores[start])) * genome:,.1f}")

# %% [markdown]
# The first window is a site with about seven chances in eight, in spite of the long odds (roughly: one strand, even DNA, only the known sites). The second is not convincing by its letters alone, although CRP does
# bind there: it took an experiment. In random DNA as long as this genome some 8,000 windows would score as high, and as high as the first 0.6 on average: about as likely none as any. (There are certainly more sites than
# those known, which helps both a little.)

# %% [markdown]
# ## What you can do now
#
# You can say what a model should believe before it has seen anything, let data overrule it, and **measure** how strong
# the prior should be. The softmax of later labs never gives a finite score probability zero either (but for rounding), and weight decay is a prior on
# weights: the idea of this lab travels on under other names.

# %% locked="progress"
progress()

# %% [markdown]
# ## What is still missing
#
# A better prior makes the most of a short memory. But the memory stays short: two letters, at most three, then the
# table is too large and too empty. Suppose the word that decides stands eight words back:
#
# *check the program log and find out whether it **ran** …*
#
# *down* or *please*? The answer is in *program*, far away. **How can one word far back decide?** That is lab 03.

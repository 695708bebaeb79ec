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

# %% locked="setup"
import random

import matplotlib.pyplot as plt
import numpy as np
from coursekit import check, progress, start
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
# * the **mode**, its highest point, the single most believable $q$: $\dfrac{a'-1}{a'+b'-2}$. It is called the
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
    axes[0].legend(loc="upper left", fontsize=8.5)
    figure.suptitle("Every toss narrows the belief; mode and mean come together", x=0.01, ha="left", weight="bold")

# %% [markdown]
# At the start the belief is wide and in the middle. Three heads pull it to the right, but not to 1. Fifty tosses
# leave little of the prior: **the data overrule it, slowly.** Mode and mean differ when data are few, and meet later.

# %% [markdown]
# **Written question (2 points).** With the flat prior, three heads in three tosses give the mode 1 and the mean 4/5.
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
# (Here every α is 2.)

# %% tags=["skip-grading"]
outcomes, prior = ["directories", "files", "photos"], 2
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.3))
for ax, counts in zip(axes, ([0, 0, 0], [2, 3, 5], [20, 30, 50])):
    draw_dirichlet(np.array(counts) + prior, outcomes, ax=ax)
    ax.set_title(f"after {sum(counts)} requests", loc="center", fontsize=10.5, weight="normal")
    ax.plot(*place([0.2, 0.3, 0.5]), "x", color=RED, markersize=8, markeredgewidth=2)
figure.suptitle("Requests pull the belief from the middle to 2 : 3 : 5 (red cross)", x=0.01, ha="left", weight="bold")
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
# outcome had been seen once more: "add-one smoothing".
#
# *By hand.* Counts 2, 3, 5 and $\alpha = 2$: 3/13, 4/13, 6/13. Counts 0, 0, 0: 1/3 each.
#
# `dirichlet_map(N, alpha)`
#
# * `N`: an array of counts of **any** shape `(…, V)`. The outcomes are on the last axis; every row along it is
#   treated by itself. Lab 01's table fits, and so does a `(27, 27, 27)` array.
# * `alpha`: one number for all outcomes, or an array that broadcasts against `N` (such as `(V,)`: a knob for each
#   outcome). No value is below 1.
# * returns an array of the shape of `N`. Where all numbers of a row are zero above the line (a row without counts,
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
# No minus one here. **MAP uses α − 1, the mean uses α.** Many a book and program confuses the two; they are the
# same rule with a knob that reads differently, so always say which one you mean.
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
# *directories* was never asked for, yet no α above 1 calls it impossible. The larger α, the more data it takes to
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
# We shuffle the built-in names (as makemore does, with Python's generator and seed 42), learn from the first 1,000
# and **judge by the last 3,203**, which the model never sees.

# %% tags=["skip-grading"]
shuffled = names()
random.Random(42).shuffle(shuffled)
train, test = trigram_counts(shuffled[:1000]), trigram_counts(shuffled[-3203:])

# %% tags=["skip-grading"]
with until_written():
    needs("dirichlet_map")
    plain = dirichlet_map(train, 1)  # α = 1: counting and dividing
    ruined = test[plain == 0].sum()
    print(f"{ruined:,} of the {test.sum():,} tokens of the new names have probability zero")
    print(f"{(train.sum(axis=-1) > 0).sum()} of {27 * 27} contexts were seen at all")

# %% [markdown]
# One such token already makes the average surprise infinite, and there are thousands. Smoothing is no luxury here.
#
# ### 4 · `choose_alpha` ●●○ (15 minutes, 3 points)
#
# The right α is the one whose predictions of **unseen** names are least surprised. So: try a few, measure, take the
# best. Lab 01 showed that counts are all one needs for the NLL. With $N^{\text{dev}}$ the counts of the unseen names
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
#   lowest NLL on `dev`, and an array or list `(G,)` with the NLL of each number of the grid. When several numbers cost
#   exactly the same, `best` is the one that stands first in the grid.

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
    grid = np.logspace(-3, 1, 25)
    figure, ax = plt.subplots(figsize=(7.6, 3.8))
    for size, colour in ((200, ORANGE), (1000, BLUE), (5000, GREEN), (26_707, INK)):
        best, costs = choose_alpha(trigram_counts(shuffled[:size]), test, grid)
        ax.plot(grid, costs, color=colour, label=f"{size:,} names: best α = {best:.2g}")
        ax.plot(best, costs.min(), "o", color=colour)
    ax.set(xscale="log", xlabel="α", ylabel="NLL of unseen names (nats a token)")
    ax.set_title("Too little α is too sure, too much forgets; more names help most")
    ax.legend()

# %% [markdown]
# Three things to see. To the left the curves rise: with a tiny α each unseen step is a heavy blow. To the right they
# rise: a large α drowns the counts. And with many names the curve is nearly flat: then α hardly matters.
#
# How hardly? Take lab 01's *bigrams* and all of makemore's names: 25,626 to learn from, 3,203 to judge by. Their
# counts come with the course.

# %% tags=["skip-grading"]
with until_written():
    needs("choose_alpha")
    big = makemore_bigrams()
    _, costs = choose_alpha(big["train_25626"], big["dev_3203"], [0.01, 1])
    never = big["dev_3203"][big["train_25626"] == 0].sum()
    print(f"makemore's names, bigrams: α = 0.01 gives {costs[0]:.4f}, α = 1 gives {costs[1]:.4f}")
    print(f"without any smoothing: infinite, for {never} of {big['dev_3203'].sum():,} tokens were never seen")

# %% [markdown]
# 2.4535 against 2.4533: with plenty of data any prior will do, **as long as there is one**.
#
# (A word on honesty: whoever *chooses* α on some names should *report* on yet others, for the chosen one is a little
# lucky. With one number to choose the luck is tiny; from lab 10 on we keep three parts: train, dev and test.)

# %% [markdown]
# **Written question (2 points).** Suppose you call `choose_alpha(train, train, grid)`, with the same names on both
# sides. Which end of the grid wins, and why is that useless? (Try it, then explain it.) Two or three sentences.

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
# what you believe! After `qx` you have never seen anything, true. But you do know what follows `x`, and you know
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
# * `shorter`: probabilities `(…, V)` after each shorter context. Its shape is that of `counts` or lacks some of the
#   **first** axes: for trigram counts `(27, 27, 27)` the bigram's `(27, 27)`, because the older token is forgotten
#   first. NumPy's broadcasting does just that;
# * `alpha`: a positive number;
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
    letters = interpolate(N.sum(axis=(0, 1)), np.full(27, 1 / 27), alpha)  # (27,)
    bigram = interpolate(N.sum(axis=0), letters, alpha)  # (27, 27)
    return interpolate(N, bigram, alpha)  # (27, 27, 27)


def nll(P, N):
    """Average surprise of counts N under the probabilities P, (…, V) both."""
    with np.errstate(divide="ignore"):
        return -(N[N > 0] * np.log(P[N > 0])).sum() / N.sum()


# %% tags=["skip-grading"]
def race(train, test):
    """NLL on test of three ways to treat what was never seen."""
    models = dirichlet_mean(train, 1), dirichlet_mean(train, 0.1), three_storeys(train, 20)
    return [nll(P, test) for P in models]


with until_written():
    needs("dirichlet_mean", "interpolate")
    makemore = makemore_trigrams()
    built_in = [race(trigram_counts(shuffled[:size]), test) for size in (200, 1000)]
    lecture = [race(makemore[key], makemore["last_3203"]) for key in ("first_200", "first_1000")]
    print(f"{'':32s}{'add 1':>8s}{'add 0.1':>9s}{'interpolated, α = 20':>22s}")
    for title, rows in (("the built-in names", built_in), ("makemore's names", lecture)):
        for size, row in zip((200, 1000), rows):
            print(f"{title:20s}{size:5,} names {row[0]:9.3f}{row[1]:9.3f}{row[2]:22.3f}")

# %% tags=["skip-grading"]
with until_written():
    needs("dirichlet_mean", "interpolate")
    figure, ax = plt.subplots(figsize=(7.2, 3.4))
    for i, (label, colour) in enumerate((("add 1", ORANGE), ("add 0.1", BLUE), ("interpolated", GREEN))):
        heights = [row[i] for row in built_in]
        bars = ax.bar(np.arange(2) + 0.27 * (i - 1), heights, 0.25, color=colour, label=label)
        ax.bar_label(bars, fmt="%.3f", fontsize=9, padding=2)
    ax.set_xticks(range(2), ["200 names to learn from", "1,000 names"])
    ax.set(ylabel="NLL of unseen names", ylim=(2.2, 3.0))
    ax.set_title("A shorter memory is the better prior, most of all when data are few")
    ax.legend(ncols=3, loc="upper right")

# %% [markdown]
# (The vertical axis starts at 2.2, so that the differences show.) Interpolated, 1,000 names teach about as much as
# 2,000 do a plain trigram with its best α. This very idea, refined, carried speech recognition and machine
# translation for two decades.
#
# The same on makemore's names, which the course's own figures count: here is how many tokens plain counting rules
# out there. And a look into the interpolated model of the built-in names:

# %% tags=["skip-grading"]
with until_written():
    needs("dirichlet_map", "dirichlet_mean", "interpolate")
    makemore_plain = dirichlet_map(makemore["first_1000"], 1)
    ruined = makemore["last_3203"][makemore_plain == 0].sum()
    print(f"makemore's names: {ruined:,} of {makemore['last_3203'].sum():,} unseen tokens have probability zero\n")
    model = three_storeys(train, 20)
    for older, newer in ("qu", "xz", ".m"):
        context = TOKENS.index(older), TOKENS.index(newer)
        likely = ", ".join(f"{TOKENS[j]} {model[context][j]:.2f}" for j in np.argsort(-model[context])[:5])
        print(f"after “{older}{newer}” (seen {train[context].sum()} times): {likely}")

# %% [markdown]
# ## Part E · The same lines read DNA
#
# A protein called CRP switches genes of the bacterium *E. coli* on. It grips the DNA at places that look alike, but
# no two are the same. Biologists have collected such **sites**, 26 letters each. Where in a new stretch of DNA would
# CRP bind?
#
# Take the sites apart by position: column $j$ has its own four probabilities $P_j(\text{A}), \dots, P_j(\text{T})$, a
# **position weight matrix** (PWM). With few sites some letter is missing in some column, and you know by now what
# to do about it: `dirichlet_mean`.

# %% tags=["skip-grading"]
rows = [line.split("\t") for line in lines("02_dirichlet_map/crp_sites.tsv")]
sites = sorted({site for promoter, _, site in rows if not promoter.startswith("lac")})
lac = lines("02_dirichlet_map/lac_promoter.txt")[0]
print(f"{len(sites)} different sites; the first three:")
print("\n".join(sites[:3]))
print(f"a stretch of {len(lac)} letters to search, before the gene lacZ: {lac[:40]}…")

# %% [markdown]
# ### 6 · `pwm_scores` ●●● (20 minutes, 4 points)
#
# Slide a window of the sites' length $L$ along the sequence. For each window compare two explanations: *it is a site*
# (each letter drawn from its column) or *it is just DNA* (each letter has probability 1/4). The logarithm of their
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
    log_odds = np.log(dirichlet_mean(N, alpha) / 0.25)  # (L, 4)
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
    P = dirichlet_mean(column.reshape(26, len(sites), 4).sum(axis=1), 1)  # (26, 4)
    figure, ax = plt.subplots(figsize=(9, 2.2))
    heatmap(P.T, list("ACGT"), [str(j) for j in range(26)], ax=ax, colorbar="probability")
    ax.set_title("The sites agree on TGTGA … TCACA, a word and its mirror image")
    ax.set_xlabel("position in the site")

# %% [markdown]
# The picture shows what the protein feels: *TGTGA*, a gap of six, *TCACA*. Read the second on the opposite strand of
# the double helix, backwards with A↔T and C↔G, and it is the first: the protein is a pair of two equal halves.
#
# Now the search. The two sites before *lacZ* are among the best known in biology; we have taken both **out** of the
# list, so the model has never seen them. Their centres lie 61.5 letters before the start of the gene's transcript
# and 11.5 after it.

# %% tags=["skip-grading"]
with until_written():
    needs("pwm_scores")
    figure, axes = plt.subplots(3, 1, figsize=(9, 6.6), sharex=True)
    for ax, known, alpha in zip(axes, (sites, sites[::60], sites[::60]), (1, 1, 0.001)):
        scores = pwm_scores(known, lac, alpha)
        ax.plot(scores, color=BLUE)
        ax.axhline(0, color=INK, linewidth=1)
        for start, name in ((10, "site at −61.5"), (82, "site at +11.5")):
            ax.plot(start, scores[start], "o", color=ORANGE)
            ax.annotate(name, (start, scores[start]), xytext=(8, -4), textcoords="offset points")
        ax.set(ylabel="score (nats)")
    axes[0].set_title(f"{len(sites)} sites, α = 1: both hidden sites stand out")
    axes[1].set_title("Only 6 sites, α = 1: both are still the best two")
    axes[2].set_title("6 sites, α = 0.001: too sure, and nothing looks like a site any more")
    axes[2].set_xlabel("start of the window")

# %% tags=["skip-grading"]
with until_written():
    needs("pwm_scores")
    scores = pwm_scores(sites, lac, 1)
    for start in np.argsort(-scores)[:3]:
        print(f"start {start:3d}  score {scores[start]:6.2f}  {lac[start:start + 26]}")

# %% [markdown]
# Nearly twelve nats: that window is $e^{11.7}$ times, over a hundred thousand times, more likely as a site than as even
# DNA. (The third line is the second site again, one letter off.)

# %% [markdown]
# ## What you can do now
#
# You can say what a model should believe before it has seen anything, let data overrule it, and **measure** how strong
# the prior should be. The softmax of later labs never gives an exact zero either, and weight decay is a prior on
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

# ---
# jupyter:
#   course:
#     data: []
#     minutes: 70
# ---

# %% [markdown]
# # 03 · Votes to attention: how can one word far back decide?
#
# **What you already have.** In lab 00 a one-hot row looked up a row of a table. In lab 01 that table was counted
# from text and said which word comes next; a second table looked two words back. In lab 02 it learned to be careful
# about what it had never seen.
#
# **The question of this lab.** Sometimes the word that decides stands far back. No table can look that far. You
# will try something else: let *every* earlier word cast a vote, find out why that is nearly right, and repair it. The
# repair has a name. It is attention.
#
# When you are through you can
#
# * predict a word from pairs of words that stand any distance apart;
# * say what a mask does to a vote, and look the right mask up by a matrix product;
# * build features such as "*battery* and *ran* are there, and *program* is not" out of a matrix and a zero;
# * let the mask be learned, in twenty passes over two sentences.
#
# *70 minutes: 41 for the six functions, 5 for the answer in words, 24 to read and look.*

# %% locked="setup"
import matplotlib.pyplot as plt
import numpy as np
from coursekit import break_it, check, mine, progress, start
from coursekit.figures import BLUE, GREEN, INK, ORANGE, heatmap
from coursekit.notebook.until_written import needs, until_written

start("03_votes_to_attention")
one_hot, softmax = mine("00", "one_hot"), mine("00", "softmax")

# %% [markdown]
# ## Two sentences, one difference
#
# Our computer now hears just two commands, each as often as the other. (They, and the story up to the ReLU that makes an *and*, come
# from Brandon Rohrer's *Transformers from Scratch*, 2021.)
#
# > *check the **program** log and find out whether it ran **please***
# >
# > *check the **battery** log and find out whether it ran **down** please*
#
# Programs run, batteries run down. Put your finger on *ran* and ask: what comes next?

# %% locked="sentences"
sentences = [
    "check the program log and find out whether it ran please",
    "check the battery log and find out whether it ran down please",
]
vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
number = {word: i for i, word in enumerate(vocabulary)}
as_ids = [[number[word] for word in sentence.split()] for sentence in sentences]
print(len(vocabulary), "words; the longer sentence has", max(map(len, as_ids)), "positions")

# %% [markdown]
# The chain of lab 01 looks at *ran* and must toss a coin: *please* and *down* are equally frequent after it. Two words
# do not help: both sentences have *it ran*. How far back is the word that decides?

# %%
words = sentences[0].split()
print("from 'ran' back to 'program':   ", words.index("ran") - words.index("program"), "words")
print("from 'please' back to 'program':", words.index("please") - words.index("program"), "words")

# %% [markdown]
# > **A note on the lecture.** It looks back eight words. That is counted from the word to be predicted; from *ran*,
# > the current word, it is seven.
#
# A table for eight words of memory has one row for each way to fill eight places:

# %%
print(f"13 words:     {13**8:,} rows")
print(f"50,000 words: {50_000.0**8:.1e} rows")

# %% [markdown]
# Nobody can count enough text to fill that. And it would be a waste, because nearly all of those eight words do not
# matter. We want to look far back *without* remembering everything in between.

# %% [markdown]
# ## Every earlier word gets a vote
#
# Here is a cheap way to look far. Consider the current word together with **one** earlier word at a time, and skip all
# that lies between: (*check*, *ran*), (*the*, *ran*), (*program*, *ran*), (*log*, *ran*), … Where a
# pair was met before, some word came next, and the pair remembers which.
#
# So there is a table with three axes. `features[a, c, n]` answers: *of all the times that word a stood anywhere before the current word c, and c had a next word, in which share was that next word n?* It is a second-order table, but one **with skips**.
#
# By hand: in both sentences *check* stands before *ran*; once *please* follows, once *down*. So (*check*, *ran*) says
# *down* ½, *please* ½. But *battery* stands before *ran* in one sentence only: (*battery*, *ran*) says *down* 1.

# %% [markdown]
# ### 1 · `count_features` ●●○ (15 minutes, 5 points)
#
# `count_features(sentences, V)` builds the table.
#
# * `sentences`: a list of sentences, each a list of ids from 0 to V − 1. Sentences do not touch each other.
# * `V`: how many words the vocabulary has; some of them may stand in none of the sentences.
# * It returns an array `(V, V, V)`. First count: for every position that has a next word, **every earlier
#   position of the same sentence** adds 1 at `[earlier word, current word, next word]`. Then divide each `[a, c]`
#   by its sum, so that it holds shares. A pair that never occurred stays zero.
# * The current position is not earlier than itself. A word that stands at two earlier positions is counted twice.
#
# By hand, with V = 4:
#
# | sentences | what comes out |
# |---|---|
# | `[0, 1, 2]` and `[0, 1, 3]` | `[0, 1]` is `[0, 0, ½, ½]`, everything else is 0 |
# | `[0, 0, 1, 2]` and `[0, 1, 3]` | `[0, 1]` is `[0, 0, ⅔, ⅓]`: two 0s before the first 1 count twice |
# | the same two | `[0, 0]` is `[0, 1, 0, 0]`: at the second 0, the first one is earlier |
# | `[2, 3]` | all zeros: 2 has no earlier word, 3 has no next one |

# %% question="count_features"
def count_features(sentences, V):
    """Shares of the next word for each pair.  → (V, V, V), [earlier, current, next]."""
    ### BEGIN SOLUTION
    counts = np.zeros((V, V, V))
    for sentence in sentences:
        for now in range(len(sentence) - 1):
            for earlier in sentence[:now]:
                counts[earlier, sentence[now], sentence[now + 1]] += 1
    total = counts.sum(axis=2, keepdims=True)  # (V, V, 1)
    return np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)
    ### END SOLUTION


# %% test="count_features" points=5
check("count_features", count_features)

# %% [markdown]
# All pairs whose current word is *ran* form one slice of the table. Rows are the earlier words:

# %% tags=["skip-grading"]
with until_written():
    needs("count_features")
    features = np.asarray(count_features(as_ids, 13), dtype=float)  # (13, 13, 13)
    _, ax = plt.subplots(figsize=(7, 4.6))
    heatmap(features[:, number["ran"]], vocabulary, vocabulary, ax=ax, vmin=0, vmax=1, aspect="auto",
            title="Before “ran”, only battery and program know what follows",
            xlabel="next word", ylabel="earlier word", colorbar="share")
    plt.show()

# %% [markdown]
# Most of the slice is empty. Most of what is not empty says *half, half*: words that stand in both sentences cannot
# tell them apart. Only two rows are sure of themselves.

# %% [markdown]
# ### 2 · `skip_votes` ●○○ (6 minutes, 3 points)
#
# Now the vote. The words so far are the **history**; its last word is the current one. Every earlier word goes to the
# ballot box with what the pair (*it*, *current*) knows.
#
# `skip_votes(history, features)` lists the votes, **one row a voter**.
#
# * `history`: the ids of the words so far, a list or array of length T ≥ 1; `history[-1]` is the current word.
# * `features`: `(V, V, V)`, as in question 1: `[earlier, current, next]`.
# * It returns an array `(T − 1, V)`: row *i* is what the pair (`history[i]`, current word) says about every next word.
#   Voters stand in the order of the sentence; a word that occurs twice votes twice. With T = 1 there are no
#   voters, and the shape is `(0, V)`.
#
# By hand: for the history `[0, 0, 1]` and the table from the second line above, both rows are `[0, 0, ⅔, ⅓]`.

# %% question="skip_votes"
def skip_votes(history, features):
    """One row of votes for each earlier word.  history: (T,), features: (V, V, V) → (T - 1, V)."""
    ### BEGIN SOLUTION
    history = np.asarray(history)
    return features[history[:-1], history[-1]]
    ### END SOLUTION


# %% test="skip_votes" points=3
check("skip_votes", skip_votes)

# %% [markdown]
# Count the votes after *… whether it ran*, in both sentences:

# %% tags=["skip-grading"]
candidates = [number["down"], number["please"]]  # nobody votes for any other word
with until_written():
    needs("count_features", "skip_votes")
    fig, axes = plt.subplots(1, 2, figsize=(7.6, 4.2))
    for ax, ids in zip(axes, as_ids):
        history = ids[:10]  # up to and including "ran"
        votes = np.asarray(skip_votes(history, features))  # (9, 13)
        voters = [vocabulary[i] for i in history[:-1]]
        heatmap(votes[:, candidates], voters, ax=ax, numbers=".1f", aspect="auto", vmin=0, vmax=1,
                xlabel="votes for", ylabel="voter")
        ax.set_xticks([0, 1], ["down", "please"])
        down, please = votes.sum(axis=0)[candidates]
        ax.set_title(f"{voters[2]}: {down:g} to {please:g}")
    fig.suptitle("Eight voters cannot make up their minds, one decides", x=0.01, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# After the *program* log 4 votes for *down*, 5 for *please*. After the *battery* log it is the other way round. The word
# with the most votes is right both times, although the decision was made seven words ago.
#
# These are **votes** and no longer probabilities: nine voters have nine votes to give, and their rows simply add up.

# %% [markdown]
# ## A thin majority
#
# Five to four is a poor victory for something that is perfectly certain. The lead is one vote of nine; make the
# sentence longer by words that say nothing, and it is one of thirty-three. Real votes are also noisy, because they are counted from
# limited text. Let us shake every single vote by random noise of the same size and see how often the wrong word wins:

# %% tags=["skip-grading"]
rng = np.random.default_rng(0)
noise = np.linspace(0.01, 1, 25)
for voters, colour in [(33, ORANGE), (9, BLUE), (1, GREEN)]:
    truth = np.tile([0.5, 0.5], (voters, 1))
    truth[0] = [0.0, 1.0]  # one voter knows, the others do not
    wrong = []
    for size in noise:
        totals = (truth + rng.normal(0, size, size=(2000, voters, 2))).sum(axis=1)
        wrong.append(np.mean(totals[:, 0] > totals[:, 1]))
    plt.plot(noise, wrong, color=colour, label=f"{voters} voters" if voters > 1 else "only the one")
plt.title("The undecided drown out the one that knows")
plt.xlabel("noise in each vote (standard deviation)"), plt.ylabel("how often the wrong word wins")
plt.ylim(0, 0.5), plt.legend()
plt.show()

# %% [markdown]
# The lowest curve shows the way out. The undecided add no knowledge, only noise. **Do not let them vote.**
#
# A **mask** is a list of numbers, one for each voter: 1 = may vote, 0 = must be silent. Multiply each voter's row by its
# entry of the mask, and add up. Nothing forces the entries to be exactly 0 or 1: with ½ in the mask, a voter has half
# a vote.
#
# > **A note on the lecture.** Here a mask *multiplies*, and 0 silences. Later, masks are applied to scores *before*
# > a softmax, and there 0 would not silence anybody, because $e^0 = 1$. Those masks put −∞ *in place of* the score. The
# > lecture speaks of multiplying there too; replacing is what is meant.

# %% [markdown]
# ### 3 · `mask_votes` ●○○ (5 minutes, 3 points)
#
# `mask_votes(votes, mask)` counts the votes of those who may vote.
#
# * `votes`: an array `(N, V)`, one row a voter; whole numbers or not.
# * `mask`: N entries, a list or array: `True`/`False`, 1/0, or any number in between (the weight of that vote).
# * It returns an array `(V,)`: the sum of the rows, each multiplied by its entry of the mask. If nobody may vote,
#   or nobody is there (N = 0), that is all zeros.
#
# By hand: the votes `[[½, ½], [0, 1], [½, ½]]` give `[1, 2]` with the mask `[1, 1, 1]`, `[0, 1]` with `[0, 1, 0]`, and
# `[¼, 1¼]` with `[½, 1, 0]`.

# %% question="mask_votes"
def mask_votes(votes, mask):
    """The total of the votes, each weighted by the mask.  votes: (N, V), mask: (N,) → (V,)."""
    ### BEGIN SOLUTION
    return np.asarray(mask, dtype=float) @ votes
    ### END SOLUTION


# %% test="mask_votes" points=3
check("mask_votes", mask_votes)

# %% tags=["skip-grading"]
with until_written():
    needs("count_features", "skip_votes", "mask_votes")
    fig, axes = plt.subplots(1, 2, figsize=(7.6, 2.8), sharey=True)
    for ax, ids in zip(axes, as_ids):
        votes = np.asarray(skip_votes(ids[:10], features))
        knows = [vocabulary[i] in ("battery", "program") for i in ids[:9]]  # a mask made by hand
        series = [(-0.2, np.ones(9), "all vote", BLUE), (0.2, knows, "masked", ORANGE)]
        for shift, mask, label, colour in series:
            total = np.asarray(mask_votes(votes, mask))[candidates]
            bars = ax.bar(np.arange(2) + shift, total, 0.38, color=colour, label=label)
            ax.bar_label(bars, fmt="%g")
        ax.set_xticks([0, 1], ["down", "please"])
        ax.set_xlabel("next word")
        ax.set_title(f"check the {vocabulary[ids[2]]} log …", fontsize=10.5, weight="normal")
    axes[0].set_ylabel("votes"), axes[1].set_ylim(0, 6.8), axes[1].legend(loc="upper right")
    fig.suptitle("Silence the undecided, and the one that knows decides alone", x=0.01, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# From 5 votes of 9 to 1 of 1. **This choosing of who may speak is what the word *attention* stands for.**

# %% [markdown]
# ## Where does the mask come from?
#
# We made it by hand, and it depends on the current word: for *ran* it is *battery* and *program* that matter, for another
# word it will be others. So there is one mask for each word of the vocabulary; put them under each other in a table
# `masks`, row *c* for the current word *c*. And how do you get a row out of a table, by multiplication alone? You have
# known since lab 00: by a one-hot row. It is called the **query**, because it asks.

# %% [markdown]
# ### 4 · `mask_lookup` ●○○ (4 minutes, 2 points)
#
# `mask_lookup(query, masks)` fetches the mask that belongs to the query. You wrote it in lab 00 as `lookup`. It comes back on
# purpose: the product that asks the table is the first half of attention.
#
# * `query`: an array `(V,)`, usually one-hot: the current word. Or `(T, V)`: one query in each row.
# * `masks`: an array `(V, M)`: row *c* is the mask of word *c*, with M entries: any numbers, whole or not.
# * It returns the matrix product, an array `(M,)`, or `(T, M)` for T queries. A query that is half one word and half
#   another gets half of one mask and half of the other.

# %% question="mask_lookup"
def mask_lookup(query, masks):
    """Fetch the masks that queries ask for.  query: (V,) or (T, V), masks: (V, M) → (M,) or (T, M)."""
    ### BEGIN SOLUTION
    return query @ masks
    ### END SOLUTION


# %% test="mask_lookup" points=2
check("mask_lookup", mask_lookup)

# %% [markdown]
# The mask that comes out has one entry for each *word of the vocabulary*, and we need one for each *voter*. One more
# product does it: the earlier words as one-hot rows, the **keys**. Each key finds its own entry of the mask.
# (The mask lets *ran* itself through as well: no *ran* stands before *ran* here, but the features below need it.)

# %% tags=["skip-grading"]
masks = np.zeros((13, 13))
who_matters = [number[word] for word in ("battery", "program", "ran")]
masks[number["ran"], who_matters] = 1

with until_written():
    needs("count_features", "skip_votes", "mask_votes", "mask_lookup")
    for ids in as_ids:
        history = ids[:10]
        query, keys = one_hot(history[-1], 13), one_hot(history[:-1], 13)  # (13,), (9, 13)
        mask = mask_lookup(query, masks) @ keys.T  # (9,): one entry a voter
        total = np.asarray(mask_votes(np.asarray(skip_votes(history, features)), mask))
        print(vocabulary[history[2]], "log: mask", mask.astype(int), " votes", total[candidates])

# %% tags=["skip-grading"]
with until_written():
    needs("count_features", "skip_votes", "mask_votes", "mask_lookup")
    rows = [query, mask_lookup(query, masks)]
    _, ax = plt.subplots(figsize=(7.4, 2.2))
    heatmap(rows, ["query: the current word", "mask: what is let through"], vocabulary, ax=ax,
            numbers=".0f", aspect="auto", xlabel="word of the vocabulary", title="One product turns a question into a mask")
    plt.show()

# %% [markdown]
# Read the code once more: a query, keys, a product that says who matters to whom, and a weighted sum of votes. Nothing
# in it needs an `if`. It could all be written as matrix products (to look a row up is one, by lab 00; for a pair it
# takes a one-hot row with V² entries), and computers are built for those.

# %% [markdown]
# ## From single words to pairs
#
# One thing is left that we cannot afford: the table of pairs. It has 13³ cells here. With a real vocabulary of 50,000
# words it has 2.5 billion rows (the pairs) and 50,000 columns (the next words):

# %%
print(f"{13**3:,} cells for 13 words; {50_000**3:.3g} cells for 50,000 words")
print(f"that is {50_000**3 * 4 / 1e12:.0f} terabytes, at four bytes a number")

# %% tags=["skip-grading"]
looks = ["first order\n(lab 01)", "pairs with skips\n(this lab)", "all of the last\neight words"]
powers = [np.log10(50_000) * places for places in (2, 3, 9)]  # words of a row, and the next
bars = plt.barh(looks[::-1], powers[::-1], color=[ORANGE, BLUE, GREEN])
labels = [f"$10^{{{power:.1f}}}$" for power in powers[::-1]]
plt.bar_label(bars, labels, label_type="center", color="white", weight="bold")
plt.axvline(12, color=INK, lw=1, ls="--")
plt.annotate("what a disk of\nfour terabytes holds", (12, 2.2), (19, 2), fontsize=10, va="center",
             arrowprops={"arrowstyle": "->", "color": INK})
plt.title("Pairs are cheap beside everything, and still too many")
plt.xlabel("cells of the table for 50,000 words, powers of ten"), plt.xlim(0, 50)
plt.show()

# %% [markdown]
# Nearly all those pairs never occur. So do not *store* pairs: **build** the few that matter, from the words that the mask
# let through. Three words can get through here, *battery*, *program* and *ran*. Write down which of them have been seen,
# and add a fourth entry that is always 1 (the **bias**):
#
# | history | *battery* | *program* | *ran* | bias |
# |---|---|---|---|---|
# | … battery log … ran | 1 | 0 | 1 | 1 |
# | … program log … ran | 0 | 1 | 1 | 1 |
#
# Now choose a matrix with one column for each pair. A word that belongs to the pair counts +1, its rival −1, and the bias
# takes 1 off, so that one word alone is not enough:

# %% locked="pair_weights"
W_pairs = np.array([
    # battery & ran, program & ran
    [1.0, -1.0],  # battery
    [-1.0, 1.0],  # program
    [1.0, 1.0],  # ran
    [-1.0, -1.0],  # bias
])
np.array([1.0, 0.0, 1.0, 1.0]) @ W_pairs

# %% [markdown]
# The pair *battery & ran* gets 1 + 0 + 1 − 1 = **1**, and *program & ran* gets −1 + 0 + 1 − 1 = **−1**. The first one is
# there. The second is not there; it is even "less than not there", which makes no sense. So negative values are replaced
# by 0. This little step is the **rectified linear unit**, ReLU for short: $\operatorname{ReLU}(z) = \max(0, z)$, and
# [1, −1] becomes [1, 0]. (Other matrices do the same job. In a real network they are learned.)

# %% [markdown]
# ### 5 · `pair_features` ●○○ (5 minutes, 3 points)
#
# $$\operatorname{pair\_features}(x, W) = \operatorname{ReLU}(x\,W)$$
#
# * `x`: an array `(D,)`, or with more axes in front `(…, D)`. Its last entry is the bias, already in place: append nothing, whatever number stands there.
# * `W`: an array `(D, F)`, one column for each feature.
# * It returns an array `(F,)` or `(…, F)`: the matrix product, with every negative value replaced by 0. Values above 1 stay
#   as they are.

# %% question="pair_features"
def pair_features(x, W):
    """Features from a matrix and a ReLU: max(0, x W).  x: (..., D), W: (D, F) → (..., F)."""
    ### BEGIN SOLUTION
    return np.maximum(0, x @ W)
    ### END SOLUTION


# %% test="pair_features" points=3
check("pair_features", pair_features)

# %% tags=["skip-grading"]
with until_written():
    needs("pair_features")
    seen = np.array([[b, p, r, 1.0] for r in (0, 1) for p in (0, 1) for b in (0, 1)])  # (8, 4)
    names = ["battery", "program", "ran"]
    rows = [" + ".join(n for n, there in zip(names, x) if there) or "none of them" for x in seen]
    fig, axes = plt.subplots(1, 2, figsize=(7.6, 3.4), sharey=True)
    panels = [(seen @ W_pairs, "before the ReLU"), (pair_features(seen, W_pairs), "after it")]
    for ax, (values, title) in zip(axes, panels):
        heatmap(values, rows, ax=ax, numbers=".0f", aspect="auto",
                cmap="PuOr", vmin=-2.5, vmax=2.5, title=title, xlabel="feature")
        ax.set_xticks([0, 1], ["battery\n& ran", "program\n& ran"])
    axes[0].set_ylabel("what has been seen")
    fig.suptitle("A feature lights up for its own pair only", x=0.01, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# Eight cases, and each feature lights up in exactly one; with its rival present (last row) neither does. Without the ReLU two matrices in a row would be no better than one,
# because $(x\,W_1)\,W_2 = x\,(W_1 W_2)$: everything would still be a sum of single words. It is the ReLU that makes an
# *and*.

# %% [markdown]
# ### 6 · `feed_forward` ●○○ (6 minutes, 4 points)
#
# From features to votes is one more look-up: a table $W_2$ with a row for each feature and a column for each next word.
#
# $$\operatorname{feed\_forward}(x, W_1, W_2) = \operatorname{ReLU}(x\,W_1)\,W_2$$
#
# * `x`: `(…, D)`, with the bias in place as in question 5; `W1`: `(D, F)`; `W2`: `(F, V)`; floats or integers.
# * It returns `(…, V)`: the votes. They may be negative: there is **one** ReLU, in the middle.
#
# By hand: `x = [1, 0, 1, 1]` with `W_pairs` becomes `[1, 0]`, and with the rows `[2, −3]` and `[5, 7]` in `W2` the votes are `[2, −3]`.
#
# Two matrices with a ReLU between them are called a **feed-forward layer**. In the paper *Attention Is All You Need* this is
# equation 2, $\max(0, xW_1 + b_1)W_2 + b_2$, where the bias $b_1$ stands beside the matrix. Ours is the last row of $W_1$,
# which the 1 at the end of $x$ adds; and we do without $b_2$.

# %% question="feed_forward"
def feed_forward(x, W1, W2):
    """Two matrices with a ReLU between them.  x: (..., D), W1: (D, F), W2: (F, V) → (..., V)."""
    ### BEGIN SOLUTION
    return pair_features(x, W1) @ W2
    ### END SOLUTION


# %% test="feed_forward" points=4
check("feed_forward", feed_forward)

# %% [markdown]
# Now everything in a row, from the words so far to the vote. No table of all pairs is needed any more, for the mask weighs the words
# themselves, a list of who was seen, and not their votes:

# %% tags=["skip-grading"]
W_votes = np.array([[1.0, 0.0], [0.0, 1.0]])  # a row for each pair, columns: down, please

with until_written():
    needs("mask_lookup", "pair_features", "feed_forward")
    for ids in as_ids:
        history = ids[:10]
        seen = one_hot(history, 13).max(axis=0)  # (13,): which words have been seen
        kept = seen * mask_lookup(one_hot(history[-1], 13), masks)  # (13,): which of them matter
        x = np.append(kept[who_matters], 1)  # (4,): three words and the bias
        votes = feed_forward(x, W_pairs, W_votes)  # (2,): down, please
        print(vocabulary[history[2]], "log:", x, "→", pair_features(x, W_pairs), "→", votes)

# %% [markdown]
# *battery*: 1 : 0 for *down*. *program*: 0 : 1, for *please*. Attention chooses what matters, the feed-forward layer combines
# it. A transformer is a stack of these two, again and again (lab 09).

# %% [markdown]
# ## Where attention begins
#
# Our mask has one flaw: it was set by hand, on or off. Such a switch cannot be *learned* in small steps, but a weight between
# 0 and 1 can, and those you have allowed already. So take what the product of query, table and keys gives as a **score**, and let
# the softmax of lab 00 turn scores into weights that add up to one. A factor in front of the scores serves as a dial:
#
# $$\text{weights} = \operatorname{softmax}(\text{dial} \cdot \text{scores}), \qquad \text{result} = \text{weights} \cdot \text{votes}$$

# %% tags=["skip-grading"]
with until_written():
    needs("count_features", "skip_votes", "mask_votes", "mask_lookup")
    history = as_ids[0][:10]  # the program sentence
    query, keys = one_hot(history[-1], 13), one_hot(history[:-1], 13)
    scores = mask_lookup(query, masks) @ keys.T  # (9,)
    votes = np.asarray(skip_votes(history, features))
    dials = np.linspace(0, 8, 81)
    totals = np.array([mask_votes(votes, softmax(dial * scores)) for dial in dials])[:, candidates]
    plt.plot(dials, totals[:, 1], color=BLUE, label="please")
    plt.plot(dials, totals[:, 0], color=ORANGE, label="down")
    plt.annotate("5/9", (0, 5 / 9), (6, 8), textcoords="offset points")
    plt.annotate("4/9", (0, 4 / 9), (6, -16), textcoords="offset points")
    plt.title("One dial leads from 4 : 5 towards 0 : 1, without a jump")
    plt.xlabel("dial"), plt.ylabel("share of the votes"), plt.ylim(0, 1.05), plt.legend(loc="center right")
    plt.show()

# %% [markdown]
# At dial 0 everybody has the same weight: 4 : 5 again, divided by nine. Turned up, hardly anyone but *program* is heard. In
# between it is smooth, so a network can learn where to stand.
#
# ### The mask is learned
#
# Let us see that. Throw our mask away: all scores are 0, all voters have the same weight. At each position of both sentences that has an earlier word and a next one,
# count the weighted votes and look at the share $p$ of the word that really comes next (every pair has been met, so the weighted votes sum to one). The price is lab 00's $-\ln p$ (lower than in new sentences, for the votes were counted in these). Which scores lower it? A voter who gave the true word more than
# the average $p$ should be heard more, one who gave it less should be heard less. Written down, one step downhill adds to the score of voter $i$, who has the weight $w_i$ and gave
# the true word the vote $v_i$,
#
# $$\text{rate} \cdot w_i\,\frac{v_i - p}{p}.$$

# %% tags=["skip-grading"]
def listen(history, features, scores):
    """What a learning step needs: query (V,), keys (voters, V), weights (voters,), votes (voters, V)."""
    query, keys = one_hot(history[-1], len(scores)), one_hot(history[:-1], len(scores))
    votes = np.asarray(skip_votes(history, features))
    return query, keys, softmax(mask_lookup(query, scores) @ keys.T), votes


def learn_masks(sentences, features, passes, rate=1.0):
    """Tables of scores (V, V), learned from sentences: before the first pass over them, and after each."""
    tables = [np.zeros(features.shape[:2])]
    for _ in range(passes):
        learned = tables[-1].copy()
        for ids in sentences:
            for now in range(1, len(ids) - 1):
                query, keys, weights, votes = listen(ids[: now + 1], features, learned)
                true = ids[now + 1]
                share = mask_votes(votes, weights)[true]
                step = weights * (votes[:, true] - share) / share  # (voters,)
                learned += rate * np.outer(query, step @ keys)
        tables.append(learned)
    return tables

# %% tags=["skip-grading"]
with until_written():
    needs("count_features", "skip_votes", "mask_votes", "mask_lookup")
    tables, shares = learn_masks(as_ids, features, 20), []
    for table in tables:
        _, _, weights, votes = listen(as_ids[0][:10], features, table)  # the program sentence, up to "ran"
        shares.append(mask_votes(votes, weights)[number["please"]])
    learned = tables[-1]
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 2.9), width_ratios=(1, 2))
    axes[0].plot(shares, color=BLUE)
    axes[0].set(xlabel="passes over the two sentences", ylabel="share of “please”", ylim=(0, 1.05), xticks=[0, 10, 20])
    rows = [masks[number["ran"]], learned[number["ran"]]]
    heatmap(rows, ["by hand", "learned"], vocabulary, ax=axes[1], numbers=".1f", aspect="auto",
            cmap="PuOr", vmin=-4, vmax=4, xlabel="earlier word", ylabel="scores at “ran”")
    fig.suptitle("Twenty passes find battery and program by themselves", x=0.01, ha="left", weight="bold")
    plt.show()
    others = np.delete(learned, number["ran"], axis=0)
    print("largest score in the rows of all other words:", np.abs(others).max().round(2))

# %% [markdown]
# Nobody told it which words matter. It found the two that we wrote down by hand (no *ran*, *down* or *please* stands before *ran* here, so these three stay at 0). That the numbers are
# not our ones and zeros does no harm: to a softmax only the lead counts, and theirs is the larger one. The rows of all other words have not moved: there all voters say the same, and nothing is to
# be gained by hearing some of them more.
#
# Does such a table serve sentences that it has never read? Two sentences cannot tell. Let us make 128, count and learn on 8 or on 16 of them, and predict the word after
# *ran* in all the others:

# %% tags=["skip-grading"]
commands = [
    f"{verb} the {who} {thing} and {ask} whether it ran {'down please' if who == 'battery' else 'please'}"
    for verb in ("check", "read", "open", "print") for who in ("battery", "program")
    for thing in ("log", "report", "list", "screen") for ask in ("find out", "see", "tell me", "say")
]
more_words = sorted({word for command in commands for word in command.split()})
with until_written():
    needs("count_features", "skip_votes", "mask_votes", "mask_lookup")
    ids_of = [[more_words.index(word) for word in command.split()] for command in commands]
    order, ran = np.random.default_rng(0).permutation(len(commands)), more_words.index("ran")
    for read in (8, 16):
        known, new = [ids_of[i] for i in order[:read]], [ids_of[i] for i in order[read:]]
        counted, right = np.asarray(count_features(known, len(more_words)), dtype=float), []
        tables = learn_masks(known, counted, 20)
        for table in (tables[0], tables[-1]):  # all have the same weight; learned
            heard = [listen(ids[: ids.index(ran) + 1], counted, table)[2:] for ids in new]
            guesses = [np.argmax(mask_votes(votes, weights)) for weights, votes in heard]
            right.append(np.mean([guess == ids[ids.index(ran) + 1] for guess, ids in zip(guesses, new)]))
        best = [f"{more_words[i]} {tables[-1][ran, i]:.1f}" for i in np.argsort(-tables[-1][ran])[:3]]
        print(f"{read:2d} sentences read, {len(new)} new ones: all vote {right[0]:.0%} right, learned mask {right[1]:.0%};"
              f" highest scores: {', '.join(best)}")

# %% [markdown]
# Counted from so little text, the votes of *log* or *see* are no longer half and half: they lean to whatever happened to stand in the same sentences, and when all vote, many of the new
# sentences go wrong. Here sixteen sentences are enough to learn whom to hear. These eight are not, by bad luck: in them *see* occurs only with *program*, *tell me* only with *battery*, and *find out* and *say* not at all: nothing in them says that this is chance. (Of 60 random choices of eight, 57 led to 100%. That “all vote” falls from eight to sixteen is chance, too.)
#
# ### The formula
#
# Write *Q* for the queries (here: the rows that the one-hot words have fetched from the table of scores), *K* for the keys, *V* for what
# the voters have to say (their *values*), and you have read the formula at the heart of *Attention Is All You Need* (but for one factor and the origin of *Q*, *K* and *V*, see below):
#
# $$\operatorname{Attention}(Q, K, V) = \operatorname{softmax}(Q\,K^{\mathsf T})\,V$$
#
# Attention came from translation (Bahdanau, Cho and Bengio 2014), where each new word of the translation asks which words of the sentence matter to it.
#
# ### For those who like a challenge · `attend` ●●○ (no points)
#
# You have written every part of that formula; now write it in one piece. `attend(history, features, scores)` takes the words so far, `(T,)` with T of at least 2, the table of question 1 and a table of
# scores, `(V, V)`, like `learned`. It returns the softmax-weighted votes, `(V,)`: for the current word look up the scores of all earlier words, make weights of them, and add up the voters' rows. No loop is needed.
#
# By hand: with scores that are all 0, *… program log … it ran* gives 4/9 to *down* and 5/9 to *please*; with `learned`, 0.11 and 0.89.

# %% question="attend" points=0
def attend(history, features, scores):
    """Soft votes: softmax(query · scores · keys) times the votes.  (T,), (V, V, V), (V, V) → (V,)."""
    ### BEGIN SOLUTION
    query, keys = one_hot(history[-1], len(scores)), one_hot(history[:-1], len(scores))
    weights = softmax(mask_lookup(query, scores) @ keys.T)
    return mask_votes(skip_votes(history, features), weights)
    ### END SOLUTION


# %% tags=["skip-grading"]
with until_written():
    needs("count_features", "skip_votes", "mask_votes", "mask_lookup")
    for ids in as_ids:
        soft = attend(ids[:10], features, learned)
        print(vocabulary[ids[2]], "log:", {vocabulary[i]: round(float(soft[i]), 2) for i in candidates})

# %% [markdown]
# > **A note on the lecture.** It gives this formula once as it stands here and once with the product divided by $\sqrt{d_k}$.
# > The second one is complete. Lab 07 shows what the root is for, and where our table `masks` has gone in $Q K^{\mathsf T}$.
#
# Another difference from a transformer goes deeper. What a voter says here depends on who asks: the row is that of the *pair* (earlier, current). In a transformer a value depends on
# the voter alone, whoever the query is. That is far cheaper, and it is why the pair has to be made afterwards, by the feed-forward layer.
#
# One more experiment before you go. Shuffle the earlier words and count the votes again:

# %% tags=["skip-grading"]
with until_written():
    needs("count_features", "skip_votes", "mask_votes", "mask_lookup")
    shuffled = np.random.default_rng(2).permutation(history[:-1]).tolist()
    votes = np.asarray(skip_votes([*shuffled, history[-1]], features))
    print(*[vocabulary[i] for i in shuffled], "ran →", votes.sum(axis=0)[candidates])

# %% [markdown]
# Still 4 : 5. A voter says *what* it is and never *where* it stands; to this model all that comes before the current word is a bag of words.

# %% [markdown]
# ### 7 · In your own words (5 minutes, 3 points)
#
# A classmate says: *"The eight undecided words give half a vote to each side. That cancels out, and* please *wins anyway. So the mask
# changes nothing."* In which sense is she right? Give two reasons why the mask matters all the same. Three or four
# sentences, in the cell below. A person reads and grades this answer.

# %% [markdown] written="why_mask" points=3
# ### BEGIN SOLUTION
# She is right that the order of the two candidates is the same: adding the same amount to both sides never changes who is ahead, as long as
# the votes are exact. But first, real votes are counted from limited text and are noisy; eight undecided voters bring eight doses of noise
# and no knowledge, so the lead of one vote is easily lost, the more easily the longer the sentence is. Second, we want to know *how sure*
# the prediction is: 5 : 4 looks like a toss-up, 1 : 0 says what is really known, and the probabilities that are trained and sampled
# from depend on that. (Any two sound reasons count. Also good: in a long sentence the share of the deciding word shrinks towards nothing.)
# ### END SOLUTION

# %% [markdown]
# ### Optional · Break it to believe it ●○○ (5 minutes, no points)
#
# Five impostors of `skip_votes` wait behind the card below. One of them lets each word vote once, however often it stands there. All five pass a test with this input:

# %% locked="weak_input"
weak_features = np.arange(64.0).reshape(4, 4, 4)
weak_features = weak_features + weak_features.swapaxes(0, 1)
weak_input = ([0, 2, 3, 1], weak_features)

# %% [markdown]
# Let `counterexample()` return an input `(history, features)` for which they go wrong. Your own function says what is right. What do sentences do that this history does not?

# %% question="counterexample" points=0
def counterexample():
    """An input that gives wrong votes away: (history, features)."""
    ### BEGIN SOLUTION
    return [3, 1, 0, 0, 2, 1], np.random.default_rng(0).random((4, 4, 4))
    ### END SOLUTION


# %% tags=["skip-grading"]
with until_written():
    needs("skip_votes")
    break_it(counterexample, skip_votes)

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# ## What you can do now
#
# * let pairs of words vote, any distance apart, and say why the majority is thin;
# * silence voters with a mask, hard or soft, and fetch the mask by a product of query and table;
# * build features that need two words at once with a matrix and a ReLU, and turn them into votes with a second matrix.
#
# ## What is still missing
#
# Four things, and each is a lab of its own.
#
# * We spoke of "words" and of 50,000 of them. What about *batteries*, *rechargeable*, or a typing error? *What is a
#   word, anyway?* That is **lab 04**, the next one.
# * *Battery* and *accumulator* share nothing: their one-hot rows have dot product 0. Words need meaning (**lab 05**).
# * A voter's *place* in the sentence played no role. *Dog bites man* is not *man bites dog* (**lab 06**).
# * The table of masks, filled in by hand or learned, has a score for each pair of words in the vocabulary, and none for a word that it has never met. In
#   **lab 07** the scores come from the words' own vectors.

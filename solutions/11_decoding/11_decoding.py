# ---
# jupyter:
#   course:
#     data: [names.txt]
#     minutes: 120
#     demo: 11_decoding
# ---

# %% [markdown]
# # 11 · Decoding: what do I say?
#
# **What you already have.** A model that was trained (lab 10) answers one question, again and again: *given
# everything said so far, how probable is each next word?*
#
# **What is missing.** A list of probabilities is not a sentence. Somebody must choose a word, put it behind the
# others, ask again, and know when to stop. This choosing is called **decoding**, and it matters a great deal:
# the same model can bore you, babble, or get it right. (The *decoder* of lab 09 is something else: the half of a transformer that
# makes the probabilities. Decoding begins where it ends.)
#
# **In this lab** you write the ways of choosing that everybody uses: greedy, temperature, top-k, top-p and beam search. You will be able to
#
# * take the most probable word every time, and show where that goes wrong;
# * roll dice, and load them with a temperature, with top-k and with top-p;
# * search several sentences at once with a beam, and say what it finds and what it misses;
# * explain why a translator searches and a story-teller rolls dice.
#
# No gradients are needed here, so we are back in NumPy.
#
# *120 minutes: 90 for the five functions, 10 for the two answers in words, 20 to read and look.*

# %% locked="setup"
import numpy as np
from coursekit import break_it, check, progress, start

start("11_decoding")

# %% [markdown]
# One tool from lab 00, which may be used everywhere. A score of $-\infty$ gets the probability 0.

# %% locked="softmax_given"
def softmax(scores, axis=-1):
    """exp(scores) / sum of exp(scores) along ``axis``, safe for large scores (you wrote it in lab 00)."""
    exponentials = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)

# %% [markdown]
# ## 1 · A model is a function called `step`
#
# Decoding does not care whether a transformer, a recurrent network or a table of counts does the predicting. All that it
# ever sees is one function:
#
# > `step(prefixes)` takes a **list of n prefixes** and returns an **array (n, V)**: in row $i$ the *log*-probabilities of the
# > V words that may come next after prefix $i$.
#
# * A prefix is a list of word numbers that begins with `<bos>` (*beginning of sentence*): `[BOS]`, `[BOS, 2]`, `[BOS, 2, 1]` …
# * All prefixes of one call have the same length, so that a model can treat them as one batch.
# * One of the V words is `<eos>`, *end of sentence*.
#
# Here is the smallest model worth decoding, from the lecture. It knows three words, *ok*, *yes* and `<eos>`:

# %% locked="small_tree"
words = ["<eos>", "ok", "yes"]  # their numbers are 0, 1, 2
EOS, BOS = 0, 3

after = {  # what was said so far: probabilities of <eos>, ok, yes
    (): [0.1, 0.4, 0.5],
    ("yes",): [0.3, 0.3, 0.4],
    ("ok",): [0.1, 0.7, 0.2],
}


def small_step(prefixes):
    """The lecture's model: at first, after one word, and then always <eos>."""
    rows = [after.get(tuple(words[number] for number in prefix[1:]), [1.0, 0.0, 0.0]) for prefix in prefixes]
    with np.errstate(divide="ignore"):  # log 0 is −∞, and that is right
        return np.log(rows)

# %% tags=["skip-grading"]
print(np.exp(small_step([[BOS]])))
print(np.exp(small_step([[BOS, 2], [BOS, 1]])))  # after "yes", and after "ok", in one call

# %% [markdown]
# Why logarithms? A sentence's probability is the product of its words' probabilities,
#
# $$P(y_1, \dots, y_n) = P(y_1)\,P(y_2 \mid y_1)\cdots P(y_n \mid y_1 \dots y_{n-1})$$
#
# and a product of a few hundred small numbers is too small for a computer. **Logarithms are added instead.**
#
# ## 2 · Greedy: always the best word
#
# Take the most probable word. Put it behind the prefix. Ask again. Stop at `<eos>`.
#
# **By hand.** First *yes* (.5), then *yes* again (.4), then `<eos>` (1). The sentence's probability is .5 · .4 · 1 = .20.

# %% [markdown]
# ### Question 1 · `greedy` ●○○ (10 minutes, 3 points)
#
# `greedy(step, bos, eos, max_length)` returns the pair `(tokens, log_probability)`.
#
# * `step`: the model; `bos`, `eos`: two word numbers; other models have others than ours;
# * `max_length`: stop after this many words (`<eos>` counts) even if `<eos>` has not come (1 or more);
# * `tokens`: the list of the chosen word numbers, **without** `bos`, and **with** `eos` at its end if it came;
# * `log_probability`: the sum of the log-probabilities of all the chosen words, `eos` included.
#
# When several words are equally probable, take the one with the lowest number (`np.argmax` does).
# For the small model: `([2, 2, 0], log 0.20)`.

# %% question="greedy"
def greedy(step, bos, eos, max_length):
    """Always the most probable word → (list of tokens without bos, their total log-probability)."""
    ### BEGIN SOLUTION
    tokens, total = [], 0.0
    while len(tokens) < max_length and tokens[-1:] != [eos]:
        log_probabilities = step([[bos, *tokens]])[0]  # (V,)
        best = int(np.argmax(log_probabilities))
        tokens.append(best)
        total += float(log_probabilities[best])
    return tokens, total
    ### END SOLUTION

# %% test="greedy" points=3
check("greedy", greedy)

# %% [markdown]
# Was that the most probable sentence? There are only seven, so we can look at all of them.

# %% tags=["skip-grading"]
import matplotlib.pyplot as plt
from coursekit.figures.beam_tree import Watched, draw_search
from coursekit.figures import BLUE, GREEN, INK, ORANGE, RED
from coursekit.notebook.progress import track
from coursekit.notebook.until_written import needs, until_written

everything = {"yes yes": 0.5 * 0.4, "yes ok": 0.5 * 0.3, "yes": 0.5 * 0.3, "ok ok": 0.4 * 0.7, "ok yes": 0.4 * 0.2,
              "ok": 0.4 * 0.1, "(nothing)": 0.1}

with until_written():
    needs("greedy")
    watched = Watched(small_step)
    tokens, total = greedy(watched, BOS, EOS, 10)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.2), width_ratios=(3, 2))
    watched([[BOS, 1], [BOS, 1, 1]])  # for the picture: the branch that greedy never looked at
    draw_search(watched, words, [tokens], ax=left, title="Greedy takes the larger branch first …")
    left.text(0.5, 0, "orange: greedy's way; blue: a branch that it never looked at", transform=left.transAxes, ha="center", va="top", fontsize=9)
    order = sorted(everything, key=everything.get)
    right.barh(order, [everything[s] for s in order], color=[ORANGE if s == "yes yes" else BLUE for s in order])
    right.set_xlabel("probability of the whole sentence (orange: greedy's)")
    right.set_title("… and misses the best")
    plt.show()
    print(f"greedy: {' '.join(words[t] for t in tokens)} with {np.exp(total):.2f}; best: ok ok <eos> with {.4 * .7 * 1:.2f}")

# %% [markdown]
# *ok ok* has .4 · .7 · 1 = **.28**. Greedy could not see that behind the second-best first word a better second word is waiting.
# It never looks ahead and never goes back.
#
# Its other trouble is boredom: the same prefix always gets the same answer, and in a long text greedy soon goes round in circles (Holtzman et al.
# 2020). Meet the model for the rest of this lab. It has read 29,910 names and predicts the next letter from the last four (counting, as in labs 01
# and 02, with a longer memory):

# %% tags=["skip-grading"]
from coursekit.models.letters import BOS as NAME_BOS, EOS as NAME_EOS, TOKENS, LetterModel, sample_name, spell
from coursekit.data.names import names

model = LetterModel()  # model(prefixes) is a step; model.after("qu") is the row of log-probabilities after qu
print("after “q”:", {TOKENS[i]: round(float(np.exp(model.after("q")[i])), 2) for i in np.argsort(-model.after("q"))[:4]})

with until_written():
    needs("greedy")
    for attempt in range(3):
        print("the greedy name:", spell(greedy(model, NAME_BOS, NAME_EOS, 20)[0]))

# %% [markdown]
# ## 3 · Rolling dice, and loading them
#
# To get another name each time, draw the next letter *with the probabilities that the model gives*. Now everything that can
# happen will happen, including what the model thinks unlikely. A knob decides how adventurous the dice are: the
# **temperature** $T$. The logits $z$ (log-probabilities will do) are divided by it before the softmax:
#
# $$p_i = \frac{e^{z_i/T}}{\sum_j e^{z_j/T}}$$
#
# If $z_i = \ln \pi_i$, then $e^{z_i/T} = \pi_i^{1/T}$. So $T = \tfrac12$ squares the probabilities, and $T = 2$ takes their roots
# (then both are divided by their sum). **By hand**, with .5, .3 and .2:
#
# | | first | second | third |
# |---|---|---|---|
# | $T = \tfrac12$: .25, .09, .04, divided by .38 | .658 | .237 | .105 |
# | $T = 1$ | .5 | .3 | .2 |
# | $T = 2$: .707, .548, .447, divided by 1.702 | .415 | .322 | .263 |
#
# As $T \to 0$ the best word, if it has no equal, gets everything: that is greedy. As $T \to \infty$ all possible words become equal. You write the probabilities; the rolling itself
# (`sample_name`: draw a letter, put it behind the others, until `<eos>`) is given.

# %% [markdown]
# ### Question 2 · `temperature_probs` ●○○ (5 minutes, 2 points)
#
# `temperature_probs(logits, T)` returns an array of shape `(V,)`: probabilities that sum to 1.
#
# * `logits`: array `(V,)`. Any numbers, also large ones, and $-\infty$ for a word that is impossible (its probability is 0). The array stays as it is;
# * `T`: a number above 0, perhaps a very small one.

# %% question="temperature_probs"
def temperature_probs(logits, T):
    """softmax(logits / T).  logits: (V,), T > 0 → (V,) probabilities."""
    ### BEGIN SOLUTION
    return softmax(logits / T)
    ### END SOLUTION

# %% test="temperature_probs" points=2
check("temperature_probs", temperature_probs)

# %% tags=["skip-grading"]
with until_written():
    needs("temperature_probs")
    fig, axes = plt.subplots(1, 3, figsize=(9.4, 2.8), sharey=True)
    letters = [t.replace("<eos>", "·") for t in TOKENS[1:]]
    for ax, T, finding in zip(axes, (0.4, 1, 2.5), ("the favourite rules", "as the model says", "anything goes")):
        ax.bar(letters, temperature_probs(model.after("ma"), T)[1:], color=BLUE)
        ax.set_title(f"T = {T:g}: {finding}", fontsize=11)
        ax.set_xticks(range(0, 27, 2), letters[::2], fontsize=7)
        ax.set_xlabel("letter after “ma” (· is the end)")
    axes[0].set_ylabel("probability")
    plt.show()
    for T in (0.4, 1, 2.5):
        rng = np.random.default_rng(8)
        print(f"T = {T:<4g}", ", ".join(sample_name(model, lambda z: temperature_probs(z, T), rng) for _ in range(8)))

    tail = np.exp(model.after("ma"))[1:]  # without <bos>, which cannot come
    print(f"\nafter “ma” {(tail < 0.02).sum()} symbols have less than .02 each, together {tail[tail < 0.02].sum():.2f}")
    rng = np.random.default_rng(8)
    made = [sample_name(model, lambda z: temperature_probs(z, 1), rng) for _ in range(300)]
    listed = rng.permutation(names())[:300]
    odd = {name: any(np.exp(model.after(name[:n])[TOKENS.index(letter)]) < 0.02 for n, letter in enumerate(name)) for name in [*made, *listed]}
    for whose, some in (("300 names rolled at T = 1", made), ("300 names of the list", listed)):
        print(f"of {whose}, {np.mean([odd[name] for name in some]):.0%} have at least one letter that had less than .02")
    every = set(names())
    known = [np.mean([name in every for name in made if odd[name] == has]) for has in (True, False)]
    print(f"of the rolled ones that have such a letter {known[0]:.0%} stand in the list, of the others {known[1]:.0%}")

# %% [markdown]
# Cold dice play safe: six of the eight names at $T = 0.4$ begin with *a* (at $T = 1$ one in seven), and still colder ones repeat themselves. Hot dice babble. And at $T = 1$? Many letters have a small probability each, and **these add up**. That alone is no fault: real names have such letters, too. But the model
# has seen each of them rarely, and knows badly *which* one fits: rolled names that have one are real half as often (the last line). A low temperature makes them rarer, but the good letters less varied, too. Scissors would cut off the long tail
# and leave the rest as it is.
#
# ## 4 · Top-k: only the best k may play
#
# Keep the $k$ most probable words, throw away the others, and let the remaining probabilities sum to 1 again (Fan et al. 2018).
#
# **By hand.** Probabilities .4, .3, .2, .1 and $k = 2$: left are .4 and .3. Their sum is .7, so they become .4/.7 = .571 and
# .3/.7 = .429. With a temperature as well, the logits are divided by $T$ first: $T = \tfrac12$ squares them to .16 and .09, which
# become .64 and .36.
#
# > **A note on the lecture.** One slide renormalises with $p_k = \exp(\pi_k/T)/\sum\exp(\pi_k/T)$ where $\pi_k$ is called a
# > *probability*. Put the three probabilities .5, .3, .2 in, with $T = 1$, and out come .391, .320 and .289. They should not have
# > changed at all. The formula is right if $\pi_k$ is a **logit**, the number *before* the softmax: renormalise *logits/T*, never
# > exponentiate a probability.

# %% tags=["skip-grading"]
probabilities = np.array([0.5, 0.3, 0.2])
print("a softmax of probabilities:    ", softmax(probabilities).round(3), " nearly flat: not the model's opinion")
print("a softmax of log-probabilities:", softmax(np.log(probabilities)).round(3))

# %% [markdown]
# ### Question 3 · `top_k` ●●○ (10 minutes, 4 points)
#
# `top_k(logits, k, T=1.0)` returns an array of shape `(V,)`: the probabilities at temperature `T` of the `k` words with the
# largest logits, renormalised to sum to 1, and 0 for all other words. Each word keeps its place in the array.
#
# * `logits`, `T`: as in question 2 (a logit may be $-\infty$ here too); `k`: 1 or more; if it is larger than V, every word stays;
# * exactly `k` words stay (an impossible one among them keeps the probability 0): of equal logits the one with the lower number goes first. `np.argsort(-logits, kind="stable")` lists the
#   word numbers from the largest logit to the smallest, in just this order.

# %% question="top_k"
def top_k(logits, k, T=1.0):
    """The k most probable words at temperature T, renormalised; 0 elsewhere.  logits: (V,) → (V,)."""
    ### BEGIN SOLUTION
    best = np.argsort(-logits, kind="stable")[:k]
    probabilities = np.zeros(len(logits))
    probabilities[best] = softmax(logits[best] / T)
    return probabilities
    ### END SOLUTION

# %% test="top_k" points=4
check("top_k", top_k)

# %% [markdown]
# ## 5 · Top-p: as many as it takes
#
# How large should $k$ be? Look at three moments in the life of a name:

# %% tags=["skip-grading"]
fig, axes = plt.subplots(1, 3, figsize=(9.4, 2.9), sharey=True)
for ax, begun, finding in zip(axes, ("q", "madis", ""), ("After “q”: one letter fits", "After “madis”: a handful", "At the start: many fit")):
    sorted_letters = np.argsort(-model.after(begun))[:16]
    height = np.exp(model.after(begun)[sorted_letters])
    ax.bar(range(16), height, color=[ORANGE if i < 5 else BLUE for i in range(16)])
    ax.set_xticks(range(16), [TOKENS[i].replace("<eos>", "·") for i in sorted_letters], fontsize=8)
    ax.set_title(finding, fontsize=11)
    ax.set_xlabel("the 16 likeliest (· is the end)")
axes[0].set_ylabel("probability")
fig.suptitle("k = 5 (orange) is too many, about right, too few", x=0.02, ha="left", weight="bold")
plt.show()

# %% [markdown]
# After *q* a fixed $k = 5$ lets in letters that have no business there; at the start it forbids most of the
# alphabet. **Nucleus sampling**, or top-p (Holtzman et al. 2020), fixes the *probability* that is kept instead of the number: keep the smallest set of
# most probable words $V^{(p)}$ for which
#
# $$\sum_{w \in V^{(p)}} P(w) \ge p$$
#
# **By hand.** Probabilities .4, .3, .2, .1. For $p = .6$: the first word has .4, not enough; the first two have .7, enough. They become
# .571 and .429. For $p = .8$ it takes three: .444, .333, .222. The word that carries the sum *over* the line is still in.
#
# > **A note on the lecture.** One slide calls top-p "like top K, but for sequences (see beam search)". It has nothing to do with
# > sequences: it cuts *one* distribution, the next word's, exactly like top-k. Only the place of the cut is chosen differently.

# %% [markdown]
# ### Question 4 · `top_p` ●●○ (15 minutes, 4 points)
#
# `top_p(logits, p, T=1.0)` returns an array of shape `(V,)`: first the probabilities at temperature `T`; then the smallest set of the most
# probable words whose probabilities sum to at least `p`, renormalised to sum to 1, and 0 for all other words.
#
# * `logits`, `T`: as in question 2; `p`: above 0 and up to 1. At least one word stays, and with `p = 1` all that are possible do;
# * of equally probable words the one with the lower number goes first.
#
# `np.cumsum` gives the running sums. The tests stay away from sums that equal `p` exactly, where rounding would decide, with one
# exception: `p = 1`. Rounding may end the running sum at 0.9999999999999999, so that it never reaches 1, or at 1 before the rarest words. All possible words stay then, too.

# %% question="top_p"
def top_p(logits, p, T=1.0):
    """The smallest set of most probable words with total probability ≥ p, renormalised.  logits: (V,) → (V,)."""
    ### BEGIN SOLUTION
    probabilities = softmax(logits / T)
    order = np.argsort(-probabilities, kind="stable")
    before = np.cumsum(probabilities[order]) - probabilities[order]  # the sum of all that go first
    kept = order if p >= 1 else order[before < p]  # near 1 the sums are rounded, and would lose the rarest words
    nucleus = np.zeros(len(probabilities))
    nucleus[kept] = probabilities[kept] / probabilities[kept].sum()
    return nucleus
    ### END SOLUTION

# %% test="top_p" points=4
check("top_p", top_p)

# %% tags=["skip-grading"]
with until_written():
    needs("top_p")
    name = "jessica"
    kept = [(top_p(model.after(name[:n]), 0.9) > 0).sum() for n in range(len(name) + 1)]
    fig, ax = plt.subplots(figsize=(7.2, 2.9))
    ax.bar(range(len(kept)), kept, color=GREEN)
    for n, number in enumerate(kept):
        ax.text(n, number + 0.3, number, ha="center")
    ax.set_xticks(range(len(kept)), ["start"] + [name[:n] for n in range(1, len(name) + 1)])
    ax.set(xlabel="what was said so far", ylabel="symbols in the nucleus", ylim=(0, max(kept) + 2))
    ax.set_title(f"With p = 0.9 the nucleus opens and closes: {kept[0]} symbols at first, {kept[-1]} after “{name}”")
    plt.show()

# %% [markdown]
# ### Accuracy against diversity
#
# Two wishes pull in opposite directions: the names should be *good*, and they should be *different*. We let each of your three
# functions make up names, and turn the knobs. *Different* is easily counted. For *good* we count the names that stand in the list: a rough measure, as the
# model has learned from that list, and a good new name counts as bad.

# %% tags=["skip-grading"]
real = set(names())
knobs = {"temperature T": [(f"{T}", lambda z, T=T: temperature_probs(z, T)) for T in (0.2, 0.4, 0.6, 0.8, 1.0)],
         "top-k": [(f"{k}", lambda z, k=k: top_k(z, k)) for k in (1, 2, 4, 8, 28)],
         "top-p": [(f"{p}", lambda z, p=p: top_p(z, p)) for p in (0.3, 0.5, 0.7, 0.9, 1.0)]}

with until_written():
    needs("temperature_probs", "top_k", "top_p")
    runs = {(kind, label): [] for kind, settings in knobs.items() for label, _ in settings}
    for kind, label, choose in track([(kind, *setting) for kind, settings in knobs.items() for setting in settings], "settings"):
        rng = np.random.default_rng(11)
        runs[kind, label] = [sample_name(model, choose, rng) for _ in range(300)]
    fig, ax = plt.subplots(figsize=(7.4, 4))
    for (kind, settings), colour, mark in zip(knobs.items(), (BLUE, ORANGE, GREEN), "os^"):
        points = [(len(set(made)) / 300, sum(one in real for one in made) / 300) for made in (runs[kind, s] for s, _ in settings)]
        ax.plot(*zip(*points), marker=mark, color=colour, label=kind)
        for (x, y), (label, _) in list(zip(points, settings))[:-1]:
            beside = {"0.8": (-24, -12), "0.9": (8, -6)}.get(label, (6, 5))  # where the curves meet, so that no two labels do
            ax.annotate(label, (x, y), textcoords="offset points", xytext=beside, color=colour, fontsize=9)
    ax.annotate("the model itself", points[-1], textcoords="offset points", xytext=(-8, -4), ha="right", color=INK)
    ax.set(xlabel="share of different names among 300", ylabel="share that stands in the list", xlim=(-0.03, 1.05), ylim=(0.3, 1.05))
    ax.set_title("More different names, fewer known ones, whichever knob you turn")
    ax.legend(loc="lower left")
    plt.show()

# %% [markdown]
# All three curves end at the same point on the right: with every letter allowed, the model speaks for itself. On
# the left, top-k with $k = 1$ is greedy: one name, three hundred times. In between lies the choice that everybody must make who puts a
# language model to work.
#
# Did you expect the scissors to win? Up to about nine different names in ten a lower temperature does better here; beyond that the scissors are a little ahead. Our measure favours what is
# frequent in the list, a name is short, and the tail of 27 symbols is short. In long texts, where 50,000 words form the tail and one bad word spoils all that follows, top-p came out best
# (Holtzman et al. 2020). (Libraries divide by $T$ first and cut afterwards. Some cut by *min-p*, at a share of the best word's probability, or lower what was said before, a *repetition penalty*.)
#
# ## 6 · Beam search: keep several sentences in play
#
# A story may be surprising. A translation should be *right*: for a translator let us look for the most probable sentence, which greedy missed. (Section 7 asks whether that is what we want.)
# Trying all sentences is no way out: with $V$ words and length $L$ there are about $V^L$ of them.
#
# **Beam search** is the compromise. Like greedy it goes word by word, but it keeps the $k$ best beginnings instead of one. The lecture's
# example has $k = 2$. Its first two words, with their log-probabilities, and the two best continuations of each:
#
# | first word | second word | sum | kept? |
# |---|---|---|---|
# | −0.92 | −0.69 | −1.61 | ✓ |
# | −0.92 | −1.20 | −2.12 | ✓ |
# | −1.61 | −0.69 | −2.30 | |
# | −1.61 | −2.30 | −3.91 | |
#
# Four sums, and **only the two best stay**. Both grew from the same first word here; that may happen. (A third-best continuation can't be among the two best of all: two of its own beginning are ahead.) We use these numbers in a tree
# with eight words:

# %% locked="lecture_tree"
eight = ["<eos>", "the", "a", "old", "cat", "dog", "slept", "well"]
then = {  # what was said so far: probabilities in the order of `eight`
    "": [0.05, 0.4, 0.2, 0.08, 0.08, 0.08, 0.06, 0.05],
    "the": [0.02, 0.01, 0.01, 0.5, 0.3, 0.12, 0.02, 0.02],
    "a": [0.05, 0.05, 0.04, 0.1, 0.5, 0.09, 0.09, 0.08],
    "the old": [0.04, 0.01, 0.01, 0.04, 0.6, 0.2, 0.06, 0.04],
    "the cat": [0.2, 0.02, 0.02, 0.02, 0.02, 0.02, 0.6, 0.1],
    "the old cat": [0.2, 0.02, 0.02, 0.02, 0.02, 0.02, 0.6, 0.1],
    "the cat slept": [0.5, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.38],
    "the old cat slept": [0.5, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.38],
}


def lecture_step(prefixes):
    """The tree above; whatever is not in it goes on with <eos> nearly always."""
    otherwise = [0.93] + 7 * [0.01]
    return np.log([then.get(" ".join(eight[number] for number in prefix[1:]), otherwise) for prefix in prefixes])

# %% [markdown]
# ### Question 5 · `beam_search` ●●● (50 minutes, 7 points)
#
# `beam_search(step, k, length_penalty, bos, eos, max_length)` returns a list of at most `k` pairs `(tokens, score)`, the best first.
# A pair is called a *hypothesis*.
#
# * `step`, `bos`, `eos`, `max_length`, and the form of `tokens` (a list) are those of `greedy`; `k` is 1 or more;
# * `score` is $\;\log P(\text{tokens}) \,/\, n^{\alpha}$, where $n$ is the number of tokens (`eos` counts, `bos` does not) and $\alpha$ is
#   `length_penalty`, a number of at least 0. For α = 0 it is simply the log-probability.
#
# The recipe:
#
# 1. The beam begins with one hypothesis that has no tokens and the log-probability 0.
# 2. **Extend.** Call `step` **once in each round**, with all the hypotheses of the beam that have not ended. Each of them gives V candidates, one for each
#    word. A hypothesis that has ended (its last token is `eos`) is not extended: it is one candidate, just as it is.
# 3. **Prune.** Of all the candidates keep the `k` with the highest *score*. Candidates of probability 0 ($\log = -\infty$) are never kept,
#    even if fewer than `k` remain. So a hypothesis after which every word is impossible drops out; if no hypothesis is left at all, the
#    search is over and returns an empty list. With equal scores the candidate that came first goes first: the earlier hypothesis, then the lower word number.
# 4. Repeat 2 and 3 until every hypothesis of the beam has ended, or `max_length` tokens have been chosen; those that have not
#    ended by then are returned as they are.
#
# **By hand**, for the small model with $k = 2$ and α = 0: after one word the beam holds `[2]` (.5) and `[1]` (.4), after two `[1, 1]` (.28) and `[2, 2]` (.20), after
# three both have ended.
#
# Hints: Of each row only the `k` largest entries can ever be kept. `sorted` keeps the order of
# equals, with `reverse=True` as well. Carry the plain log-probability along, and
# compute the score from it.

# %% question="beam_search"
def beam_search(step, k, length_penalty, bos, eos, max_length):
    """The k best hypotheses that a beam of width k finds → [(tokens, score), …], best first."""
    ### BEGIN SOLUTION
    def score(hypothesis):
        tokens, log_probability = hypothesis
        return log_probability / len(tokens) ** length_penalty

    beam = [([], 0.0)]
    for _ in range(max_length):
        live = [tokens for tokens, _ in beam if tokens[-1:] != [eos]]
        if not live:
            break
        rows = iter(step([[bos, *tokens] for tokens in live]))
        candidates = []
        for tokens, log_probability in beam:
            if tokens[-1:] == [eos]:
                candidates.append((tokens, log_probability))
                continue
            row = next(rows)
            for word in np.argsort(-row, kind="stable")[:k]:
                if row[word] > -np.inf:
                    candidates.append(([*tokens, int(word)], log_probability + float(row[word])))
        beam = sorted(candidates, key=score, reverse=True)[:k]
    return [(tokens, score((tokens, log_probability))) for tokens, log_probability in beam]
    ### END SOLUTION

# %% test="beam_search" points=7
check("beam_search", beam_search)

# %% [markdown]
# Watch it work on the lecture's tree. Blue beginnings stayed in the beam, pale ones were thrown away; orange is the sentence that comes first on the list. A branch
# carries its word's log-probability, a box the sum so far: the four sums of the table are among the boxes of the third column.

# %% tags=["skip-grading"]
with until_written():
    needs("beam_search")
    watched = Watched(lecture_step)
    hypotheses = beam_search(watched, 2, 0.0, 8, 0, 10)
    fig, ax = plt.subplots(figsize=(9.4, 4.8))
    draw_search(watched, eight, [tokens for tokens, _ in hypotheses], ax=ax, at_least=0.095, logs=True,
                title="Two beginnings stay in play at every step")
    plt.show()
    for tokens, score in hypotheses:
        print(f"{score:6.2f}  {' '.join(eight[t] for t in tokens)}")

# %% [markdown]
# (Words below a probability of .095 are not drawn.) *the cat slept* ended first and kept its place in the beam, in case the longer
# one turned out worse. In the end both have −3.32, for .4 · .3 · .6 · .5 = .4 · .5 · .6 · .6 · .5 = .036. A tie, as on the lecture's last slide,
# which rolls a die; your function leaves it to the order (and to the last digit of the rounding).
#
# And the small tree, where greedy failed?

# %% tags=["skip-grading"]
with until_written():
    needs("beam_search")
    for k in (1, 2, 9):
        found = beam_search(small_step, k, 0.0, BOS, EOS, 10)
        print(f"k = {k}:", ", ".join(f"{' '.join(words[t] for t in tokens)} {np.exp(score):.2f}" for tokens, score in found))

# %% [markdown]
# * $k = 1$ **is** greedy.
# * $k = 2$ finds *ok ok*.
# * $k = 9 = 3^2 = V^{L-1}$ (with at most $L = 3$ tokens, `<eos>` included) is so wide that nothing is ever thrown away before the last word: it has tried *everything*, and the list holds
#   all seven sentences.
#
# Now the names. Here a wider beam finds more probable names, at the price of $k$ times the work. (It usually does, but there is no guarantee: a newcomer may push out the beginning that would have won.)

# %% tags=["skip-grading"]
with until_written():
    needs("beam_search")
    widths = [1, 2, 3, 5, 10, 20, 50, 100]
    best = [beam_search(model, k, 0.0, NAME_BOS, NAME_EOS, 20)[0] for k in track(widths, "beams")]
    fig, ax = plt.subplots(figsize=(7.2, 3.3))
    ax.semilogx(widths, [score for _, score in best], "o-", color=BLUE)
    for k, (tokens, score) in zip(widths, best):
        ax.annotate(spell(tokens), (k, score), textcoords="offset points", xytext=(4, -14))
    ax.set(xlabel="width k of the beam", ylabel="log-probability of the best", xticks=widths, ylim=(-11, -5.5))
    ax.set_xticklabels(widths)
    last = spell(best[-1][0])
    at = [str(k) for k, (tokens, _) in zip(widths, best) if spell(tokens) == last]
    ax.set_title(f"A wider beam finds more probable names: {last}, at k = {', '.join(at)}")
    plt.show()
    print(f"log-probability of the empty name {model.after('')[NAME_EOS]:.2f}, of greedy's {best[0][1]:.2f};", f"mean length of the {len(names()):,} names {np.mean([len(name) for name in names()]):.1f}")

# %% [markdown]
# ## 7 · Long sentences pay more
#
# Did you notice? The better the search, the *shorter* the name: *alexandra*, then five letters, then four, where the list has 6.2 on the average. Even the *empty* name beats *alexandra*. Every further letter (or word) multiplies the
# probability by a number of at most 1, nearly always below, so a short sentence has an advantage that it has not earned. For a translator this can be grave: Stahlberg and Byrne (2019) searched
# without any limit, and for more than half of their sentences the most probable translation of all was the *empty* one.
#
# The cure is in your function already: $\log P / n^{\alpha}$. With $\alpha = 1$ it is the *mean* log-probability of a word, and length as such costs nothing. Turn the knob:

# %% tags=["skip-grading"]
with until_written():
    needs("beam_search")
    alphas = [0, 0.3, 0.5, 0.7, 1, 1.25, 1.5, 2]
    best = [beam_search(model, 20, alpha, NAME_BOS, NAME_EOS, 24)[0][0] for alpha in track(alphas, "penalties")]
    fig, ax = plt.subplots(figsize=(7.6, 3.4))
    ax.bar(range(len(alphas)), [len(spell(tokens)) for tokens in best], color=BLUE)
    for i, tokens in enumerate(best):
        ax.text(i, 0.4, spell(tokens), rotation=90, ha="center", va="bottom", color="white", fontsize=9)
    ax.set_xticks(range(len(alphas)), alphas)
    ax.set(xlabel="length penalty α", ylabel="letters of the best name")
    ax.set_title("A larger α favours longer names; at last it strings names together")
    plt.show()

# %% [markdown]
# Many translators divide by $n^{\alpha}$ with $\alpha$ at 1 or somewhat below. Google's of 2016 (Wu et al.) divides by $\left(\tfrac{5+n}{6}\right)^{\alpha}$, which hardly favours two words
# over one and behaves like $n^{\alpha}$ for long sentences. *Attention Is All You Need* took that over with $\alpha = 0.6$ and a beam of 4.
#
# ## 8 · In your own words (10 minutes, 2 points each)
#
# **(a)** Your friend writes a story-teller and a translator with the same kind of model. For which of the two would you use beam search, for
# which top-p, and why? Two to four sentences.

# %% [markdown] written="search_or_sample" points=2
# ### BEGIN SOLUTION
# The translator gets the beam: there are only a few right translations, the input says what has to come out, and what a small beam with a length penalty finds is very often one of them, so searching pays. The story-teller gets top-p: there are countless good continuations, and the single most
# probable one is generic and always the same (for names: *anna*). Dice with the long tail cut off give a different, still plausible story each time.
# ### END SOLUTION

# %% [markdown]
# **(b)** Somebody replaces a beam of 5 by one of 500, with $\alpha = 0$, and finds that the translations have become *worse*, although their
# probabilities have become higher. How can that be? Two to four sentences.

# %% [markdown] written="wide_beam" points=2
# ### BEGIN SOLUTION
# The wide beam solves its task better: it finds sentences of higher probability. But the task is not quite the right one. Each word multiplies the
# probability by a number of at most 1, so the most probable sentence of all tends to be too short, often nearly empty. The narrow beam threw
# those stumps away early (`<eos>` is not among its best first words) and was saved by its own weakness. A well-chosen length penalty changes the score that is searched for, and most of the damage is undone.
# ### END SOLUTION

# %% [markdown]
# ## Optional · Break it to believe it ●●○ (5 minutes, no points)
#
# Five impostors of `top_k` wait behind the card below. One of them keeps every word whose logit is not below the *k*-th largest. All five pass a test with the case by hand:

# %% locked="weak_input"
weak_input = (np.log([0.4, 0.3, 0.2, 0.1]), 2)

# %% [markdown]
# Let `counterexample()` return an input `(logits, k, T)` for which they go wrong. Your own function says what is right. (Question 3 says which logits are allowed.)

# %% question="counterexample" points=0
def counterexample():
    """An input that gives wrong top-k functions away: (logits, k, T)."""
    ### BEGIN SOLUTION
    return np.array([5.0, 1600, 1599, 1599, -np.inf]), 2, 2.0
    ### END SOLUTION

# %% tags=["skip-grading"]
with until_written():
    needs("top_k")
    break_it(counterexample, top_k)

# %% [markdown]
# ## What you can do now

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# * You turn any model that predicts the next word into sentences: by taking the best, by rolling loaded dice, by searching.
# * You know what temperature, k and p do to a distribution, and have seen what each costs in accuracy and buys in diversity.
# * You know that a beam is a search that may fail, that greedy is a beam of width 1, and why long sentences need help.
#
# ## What is still missing
#
# Only the assembly. You have tokens and positions, attention with many heads, blocks, a training loop and a way to decode. In lab 12 you put them together, all of them your
# own, and the thing translates.

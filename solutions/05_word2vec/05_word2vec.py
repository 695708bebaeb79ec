# ---
# jupyter:
#   course:
#     data: []
#     minutes: 110
#     demo: 05_word2vec
# ---

# %% [markdown]
# # 05 · Word vectors: what does a word mean?
#
# **What you already have.** Lab 04 turns any text into whole numbers and back. Lab 00 turned whole numbers into one-hot
# vectors. Multiply two of those and you get 1 for the same word and 0 for all others. To such a model *sea* is as far
# from *ocean* as it is from *tax*.
#
# **The question of this lab.** What does a word *mean*, in numbers? You will not tell the model. Nobody will. It only
# gets to see a riddle, half a million times:
#
# > we ____ reduce the deficit
#
# *must*, *should*, *will*, *can*: they all fit. Words that fit the same gaps tend to be alike in meaning. “You shall know
# a word by the company it keeps”, wrote the linguist J. R. Firth in 1957. A model that wants to be good at the riddle
# does well to find this out.
#
# When you are through you can
#
# * make riddles out of any text, and a model of two tables that answers them,
# * follow its gradients by hand, program them, and check them to nine decimals,
# * train it on 82 presidential speeches in about a minute,
# * ask it who is near to whom, and let it calculate with words.
#
# *110 minutes: 80 for the six functions, 10 for the two answers in words, 20 to read and look. Optional parts are extra.*

# %% locked="setup"
import time

import matplotlib.pyplot as plt
import numpy as np
from coursekit import break_it, check, progress, start
from coursekit.data.speech_words import adagrad_step, pack, speech_corpus
from coursekit.figures import BLUE, INK, ORANGE, heatmap
from coursekit.figures.word_map import draw_map
from coursekit.notebook.progress import track
from coursekit.notebook.until_written import needs, until_written
from matplotlib.colors import ListedColormap

start("05_word2vec")

# %% [markdown]
# ## Part A · Riddles
#
# A riddle has an answer, the **target**, and a **context**: up to $m$ words on its left and up to $m$ on its right. The
# lecture takes $m = 3$ and this sentence from the European Parliament:
#
# *The competent services **have** not included them in the agenda on the grounds that …*
#
# With the target *have* the context is *The, competent, services, not, included, them*. Move on by one word, and the
# next riddle is there.

# %% [markdown]
# ### 1 · `context_windows` ●○○ (10 minutes, 3 points)
#
# `context_windows(ids, m)`: `ids` is one sentence as a list of word ids, `m` a whole number from 1 on → a list of pairs
# `(context, target)`, one for each position, from left to right.
#
# * `context`: the list of the ids of up to `m` words before the target and up to `m` words after it, in the order of
#   the sentence and **without the target's own position**. (If the same word stands elsewhere in the window, it stays.)
# * At the ends of the sentence the window is simply shorter.
# * A sentence of one word has no context, so it gives no riddle: `[]`. So does the empty sentence.
#
# Your function only moves items around, so it should work just as well on a list of strings.
#
# *By hand:* `context_windows([7, 8, 9], 1)` → `[([8], 7), ([7, 9], 8), ([8], 9)]`.

# %% question="context_windows"
def context_windows(ids, m):
    """The riddles of a sentence.  list of ids, window m → list of (context, target)."""
    ### BEGIN SOLUTION
    riddles = []
    for place, target in enumerate(ids):
        context = list(ids[max(0, place - m) : place]) + list(ids[place + 1 : place + 1 + m])
        if context:
            riddles.append((context, target))
    return riddles
    ### END SOLUTION


# %% test="context_windows" points=3
check("context_windows", context_windows)

# %% tags=["skip-grading"]
sentence = ("The competent services have not included them in the agenda on the grounds that they had been "
            "answered in a previous part-session").split()
with until_written():
    needs("context_windows")
    for the_context, the_target in context_windows(sentence, 3)[3:6]:
        print(f"{the_target:>9s} ← {', '.join(the_context)}")

# %% tags=["skip-grading"]
with until_written():
    needs("context_windows")
    roles, six_riddles = np.zeros((6, 12)), context_windows(list(range(12)), 3)[3:9]
    for line, (the_context, the_target) in enumerate(six_riddles):
        roles[line, list(the_context)], roles[line, the_target] = 1, 2
    fig, ax = plt.subplots(figsize=(8.6, 3.2))
    colors = ListedColormap(["#f2f4f6", "#9ccbe8", ORANGE])
    names = [f"target {sentence[target]}" for _, target in six_riddles]
    heatmap(roles, names, sentence[:12], ax=ax, cmap=colors, vmin=0, vmax=2, aspect="auto", xlabel="word of the sentence", ylabel="riddle")
    ax.set_title("A window of three words on each side (blue) slides along with its target (orange)", fontsize=11)

# %% [markdown]
# ## Part B · A model of two tables
#
# How shall the model answer? As plainly as possible. Every word $i$ has two rows of $D$ numbers:
#
# * a row of $W_{\text{in}}$, a table $(V, D)$: the word **as a hint**, when it stands in the context;
# * a row of $W_{\text{out}}$, another table $(V, D)$: the word **as an answer**.
#
# All hints together are the **mean** of their rows, one vector $h$. An answer gets a high score when its row points in
# the direction of $h$, the more so the longer it is. The softmax of lab 00 turns scores into probabilities:
#
# $$h = \frac1C \sum_{c \in \text{context}} W_{\text{in}}[c] \qquad\qquad s_i = W_{\text{out}}[i] \cdot h \qquad\qquad p = \text{softmax}(s)$$
#
# This is **CBOW**, the *continuous bag of words* (Mikolov and others, 2013). A bag: the order of the hints is thrown away. In
# the end we keep the rows of $W_{\text{in}}$. They are called **word vectors** or **embeddings**.
#
# > **A note on the lecture.** It feeds in one-hot vectors. A one-hot vector times a table *is* a row of it (lab 00), so
# > we look the row up and spare ourselves the product. It also takes its word vectors from the columns of the
# > second matrix; we take the rows of the first, as the inventors do. And it wants output and target to become “identical”:
# > a softmax never reaches 0 and 1, so what we lower is the cross-entropy.

# %% [markdown]
# How large are such tables? The lecture's typical numbers are 30,000 words with 1,024 numbers each:

# %%
print(f"{30_000 * 1024:,} numbers in one table, that is {30_000 * 1024 / 1e6:.2f} million")

# %% locked="softmax_given"
def softmax(scores):
    """exp(scores) / sum of exp(scores), safe for large scores; from lab 00.  (V,) → (V,)."""
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()

# %% [markdown]
# ### 2 · `cbow_forward` ●○○ (10 minutes, 3 points)
#
# *By hand.* Three words, $D = 2$, and the context `[0, 1]`:
#
# | word | $W_{\text{in}}$ | $W_{\text{out}}$ | score $W_{\text{out}}\cdot h$ | probability |
# |---|---|---|---|---|
# | 0 | 1, 0 | 2, 0 | 1 | 0.212 |
# | 1 | 0, 1 | 0, 2 | 1 | 0.212 |
# | 2 | 1, 1 | 2, 2 | 2 | 0.576 |
#
# The mean of the rows 0 and 1 of $W_{\text{in}}$ is $h = (0.5, 0.5)$, and the softmax of the scores is the last column.
#
# `cbow_forward(context, W_in, W_out)`
#
# * `context`: a list of $C \ge 1$ word ids; a word that stands there twice counts twice;
# * `W_in`, `W_out`: arrays `(V, D)`;
# * returns two arrays, `h` of shape `(D,)` and `p` of shape `(V,)`. (Scores can be large, a thousand and more; the `softmax` above is safe.)

# %% question="cbow_forward"
def cbow_forward(context, W_in, W_out):
    """Answer a riddle.  context: list of C ids, W_in, W_out: (V, D) → h (D,), probabilities (V,)."""
    ### BEGIN SOLUTION
    h = W_in[context].mean(axis=0)
    return h, softmax(W_out @ h)
    ### END SOLUTION


# %% test="cbow_forward" points=3
check("cbow_forward", cbow_forward)

# %% [markdown]
# Before it has learned anything the model guesses. Here it is with random tables, on the lecture's riddle:

# %% tags=["skip-grading"]
vocabulary = sorted(set(sentence))
ids = [vocabulary.index(word) for word in sentence]
toy = np.random.default_rng(1)
toy_in, toy_out = toy.normal(0, 0.3, (2, len(vocabulary), 8))
with until_written():
    needs("context_windows", "cbow_forward")
    the_context, the_target = context_windows(ids, 3)[3]
    _, p = cbow_forward(the_context, toy_in, toy_out)
    print(f"probability of “{vocabulary[the_target]}”: {p[the_target]:.3f}; guessing: {1 / len(p):.3f}")

# %% [markdown]
# ## Part C · Learning, by hand
#
# The loss of a riddle is its surprise, as in lab 01: $L = -\ln p_{\text{target}}$. To lower it we need to know, for every
# number in both tables, in which direction the loss falls. Three steps lead backwards through the model.
#
# 1. **The scores.** For softmax and logarithm together the gradient is beautifully simple: what the model said, minus
#    what was right. $\;\partial L/\partial s_i = p_i - 1$ for the target and $p_i$ for all others. Call it the error $e$, shape $(V,)$.
#    (Why: $L = \ln \sum_j e^{s_j} - s_{\text{target}}$. The derivative of the logarithm with respect to $s_i$ is $e^{s_i} / \sum_j e^{s_j} = p_i$; that of
#    $-s_{\text{target}}$ is −1 for the target and 0 for all others.)
# 2. **The answers.** $s_i = W_{\text{out}}[i] \cdot h$, so row $i$ of the gradient of $W_{\text{out}}$ is $e_i\, h$.
# 3. **The hints.** $h$ feels all scores: $\partial L/\partial h = \sum_i e_i\, W_{\text{out}}[i]$. And $h$ is a mean, so each of the $C$
#    words of the context gets the share $\frac1C\, \partial L/\partial h$. **A word that stands in the context twice gets two
#    shares.** Rows of words that are not in the context get nothing.
#
# *By hand,* going on with the three words; let the target be word 0:
#
# * $e = (0.212 - 1,\ 0.212,\ 0.576) = (-0.788,\ 0.212,\ 0.576)$;
# * the rows of $\partial L/\partial W_{\text{out}}$ are $e_i \cdot (0.5, 0.5)$: $(-0.394, -0.394)$, $(0.106, 0.106)$, $(0.288, 0.288)$;
# * $\partial L/\partial h = -0.788 \cdot (2, 0) + 0.212 \cdot (0, 2) + 0.576 \cdot (2, 2) = (-0.424, 1.576)$, so rows 0 and 1 of
#   $\partial L/\partial W_{\text{in}}$ are $(-0.212, 0.788)$, and row 2 is zero.

# %% [markdown]
# ### 3 · `cbow_backward` ●●● (20 minutes, 5 points)
#
# `cbow_backward(context, target, W_in, W_out)`: the same arguments, and the id of the right answer → two arrays
# `dW_in`, `dW_out`, both `(V, D)`: the gradients of $L = -\ln p_{\text{target}}$. The tables themselves stay as they are. (The target's word
# may stand in the context, too: as a hint it gets its share like any other.)
#
# This is by hand: no automatic differentiation. And mind the repeated words: with NumPy, `dW_in[context] += share` writes a repeated row only *once*.
# `np.add.at(dW_in, context, share)` adds every time, and so does a plain loop.

# %% question="cbow_backward"
def cbow_backward(context, target, W_in, W_out):
    """Gradients of −ln p[target].  context: C ids, tables: (V, D) → dW_in, dW_out, (V, D) each."""
    ### BEGIN SOLUTION
    h, error = cbow_forward(context, W_in, W_out)
    error[target] -= 1  # what was said, minus what was right
    dW_in = np.zeros(W_in.shape)
    np.add.at(dW_in, context, error @ W_out / len(context))
    return dW_in, np.outer(error, h)
    ### END SOLUTION


# %% test="cbow_backward" points=5
check("cbow_backward", cbow_backward)

# %% [markdown]
# How can you be *sure* of a gradient? Ask the loss itself: move one number of a table a tiny bit up and down, and see how
# the loss changes. That is slow, but it knows nothing of your formula, so the two will hardly agree to nine decimals by accident. Such a check tells you about the riddle
# that you tried, and no other: one in which no word stands twice lets `dW_in[context] += share` pass. So we take the riddle of *on*, which
# has *the* on either side.

# %% tags=["skip-grading"]
def slope_by_trying(table, place, loss, step=1e-5):
    """How the loss changes with one number of a table: (L(x + step) − L(x − step)) / (2 step)."""
    values = []
    for sign in (1, -1):
        table[place] += sign * step
        values.append(loss())
        table[place] -= sign * step
    return (values[0] - values[1]) / (2 * step)


with until_written():
    needs("context_windows", "cbow_forward", "cbow_backward")
    the_context, the_target = context_windows(ids, 3)[10]
    print(f"{vocabulary[the_target]} ← {', '.join(vocabulary[i] for i in the_context)}")
    loss_of_riddle = lambda: -np.log(cbow_forward(the_context, toy_in, toy_out)[1][the_target])
    by_formula = cbow_backward(the_context, the_target, toy_in, toy_out)
    by_trying = [np.array([slope_by_trying(table, place, loss_of_riddle) for place in np.ndindex(table.shape)])
                 for table in (toy_in, toy_out)]
    furthest = max(np.abs(f.ravel() - t).max() for f, t in zip(by_formula, by_trying))
    print(f"{2 * toy_in.size} numbers compared; the largest difference is {furthest:.0e}")

# %% tags=["skip-grading"]
with until_written():
    needs("context_windows", "cbow_forward", "cbow_backward")
    fig, ax = plt.subplots(figsize=(4.6, 3.8))
    for formula, tried, color, name in zip(by_formula, by_trying, (BLUE, ORANGE), ("W_in", "W_out")):
        ax.plot(tried, formula.ravel(), "o", ms=4, color=color, label=name)
    ax.axline((0, 0), slope=1, color="#8a97a3", lw=1)
    ax.set(xlabel="slope found by trying", ylabel="slope by your formula")
    ax.locator_params(nbins=5)
    ax.set_title("Formula and trial agree")
    ax.legend()

# %% [markdown]
# Now let it learn the lecture's one sentence: go through its riddles again and again, and each time take a small step
# downhill.

# %% tags=["skip-grading"]
with until_written():
    needs("context_windows", "cbow_forward", "cbow_backward")
    loss_by_round, tables = [], [toy_in.copy(), toy_out.copy()]
    for _ in range(60):
        summed_loss = 0
        for the_context, the_target in context_windows(ids, 3):
            summed_loss -= np.log(cbow_forward(the_context, *tables)[1][the_target])
            for table, its_gradient in zip(tables, cbow_backward(the_context, the_target, *tables)):
                table -= 0.5 * its_gradient
        loss_by_round.append(summed_loss / len(ids))
    fig, ax = plt.subplots(figsize=(6.8, 2.9))
    ax.plot(loss_by_round)
    ax.axhline(np.log(len(vocabulary)), color=ORANGE, label=f"guessing among {len(vocabulary)} words")
    ax.set(xlabel="times through the sentence", ylabel="loss (nats)", title="It learns the sentence by heart")
    ax.legend()

# %% [markdown]
# By heart: with one sentence there is nothing else to learn. To find out that *must* is like *should*, it has to see
# both of them in many sentences. For that it must become faster.

# %% [markdown]
# ## Part D · An easier question
#
# Every single riddle asks *all* $V$ words for their score, and corrects all $V$ rows of $W_{\text{out}}$. With 30,000 words of
# 1,024 numbers these are 30.72 million multiplications on the way there and twice as many on the way back, for *one* riddle.
#
# **Negative sampling** (Mikolov and others, in their second paper of 2013) asks an easier question. Take the right answer and a handful of words drawn at random, the **noise**,
# say five. Ask for each of the six: *are you the real one, yes or no?* Yes or no is what the sigmoid is for,
# $\sigma(s) = 1/(1 + e^{-s})$, a probability between 0 and 1. (We give up the probability of each word; the vectors are all we want.) With $u_0$ for the answer's row of $W_{\text{out}}$ and $u_1, \dots, u_K$
# for the rows of the noise:
#
# $$L = -\ln \sigma(u_0 \cdot h) \;-\; \sum_{k=1}^K \ln \sigma(-u_k \cdot h)$$
#
# The loss is small when the real answer's score is large and the scores of the noise are very negative. Six rows instead of
# 30,000. The gradients have the same form as before, *what was said minus what was right* (for the derivative of $-\ln\sigma(s) = \ln(1 + e^{-s})$ is $\sigma(s) - 1$):
#
# $$g_0 = \sigma(s_0) - 1, \qquad g_k = \sigma(s_k), \qquad \frac{\partial L}{\partial h} = \sum_{k=0}^K g_k\, u_k, \qquad \frac{\partial L}{\partial u_k} = g_k\, h$$
#
# *By hand.* $h = (1, 0)$, the real answer $u_0 = (2, 0)$, one noise word $u_1 = (-1, 3)$. The scores are 2 and −1.
# $L = -\ln 0.881 - \ln 0.731 = 0.127 + 0.313 = 0.440$. $g = (-0.119, 0.269)$. So
# $\partial L/\partial h = -0.119 \cdot (2, 0) + 0.269 \cdot (-1, 3) = (-0.507, 0.807)$; the rows of $\partial L/\partial u$ are $(-0.119, 0)$
# and $(0.269, 0)$.

# %% [markdown]
# ### 4 · `negative_sampling_loss` ●●● (20 minutes, 5 points)
#
# Half a million riddles are waiting, so this function takes a whole **batch** of $B$ of them at once. Try to do without
# a loop over the batch: it would be right, too, but makes the training in Part E several times slower.
#
# `negative_sampling_loss(h, rows)`
#
# * `h`: array `(B, D)`, the mean of the hints of each riddle;
# * `rows`: array `(B, 1 + K, D)`: for each riddle the row of the right answer (`rows[:, 0]`), then those of $K \ge 1$ noise words;
# * returns three arrays: `loss` of shape `(B,)`, the loss of *each* riddle; `dh` of shape `(B, D)` and `drows` of shape
#   `(B, 1 + K, D)`, the gradients of each riddle's own loss. (No mean and no sum over the batch.)
#
# Scores can be as large as ±1,000, where `np.exp` overflows, and $\ln 0$ lurks. The trick of lab 00 helps:
# $-\ln\sigma(s) = \ln(1 + e^{-s}) =$ `np.logaddexp(0,-s)`, and so $\sigma(s) =$ `np.exp(-np.logaddexp(0,-s))`. (A warning about an
# overflow does no harm; a result of `inf` or `nan` does.)

# %% question="negative_sampling_loss"
def negative_sampling_loss(h, rows):
    """Loss and gradients, riddle by riddle.  h: (B, D), rows: (B, 1+K, D) → (B,), (B, D), (B, 1+K, D)."""
    ### BEGIN SOLUTION
    scores = (rows @ h[:, :, None])[:, :, 0]  # (B, 1+K)
    loss = np.logaddexp(0, -scores[:, 0]) + np.logaddexp(0, scores[:, 1:]).sum(axis=1)
    g = np.exp(-np.logaddexp(0, -scores))  # σ(scores)
    g[:, 0] -= 1
    return loss, (g[:, None, :] @ rows)[:, 0], g[:, :, None] * h[:, None, :]
    ### END SOLUTION


# %% test="negative_sampling_loss" points=5
check("negative_sampling_loss", negative_sampling_loss)

# %% [markdown]
# ## Part E · Eighty-two speeches
#
# Now the real thing: the State of the Union speeches from 1945 on, in small letters, without numbers and without the words
# that occur fewer than twenty times. (A word needs to be seen to be understood. They are cut out *before* the windows slide, so the words
# on either side of a hole become neighbours.)

# %% tags=["skip-grading"]
corpus = speech_corpus(at_least=20)
V, D, m, K = len(corpus.words), 64, 3, 5
print(f"{V:,} words, {corpus.counts.sum():,} in all, {len(corpus.sentences):,} sentences, for example:")
print(" ".join(corpus.words[i] for i in corpus.sentences[1000]))
with until_written():
    needs("context_windows")
    speech_riddles = pack(corpus.sentences, context_windows, m, blank=V)
    print(f"{len(speech_riddles):,} riddles; the tables hold 2 · {V:,} · {D} = {2 * V * D:,} numbers")

# %% [markdown]
# Which words shall be the noise? If we drew them as they occur, the same few would come again and again, *the* alone every fifteenth
# time. If all were equally likely, most of the noise would be rare words, and those are hardly ever the answer: their rarity alone
# would give them away. The inventors found a middle way: raise the counts to the power of ¾. (They also skipped most of the *the*s when reading; we do not.)

# %% tags=["skip-grading"]
def shares_by_power(counts, power):
    return counts**power / (counts**power).sum()


noise_up_to = np.cumsum(shares_by_power(corpus.counts, 0.75))
shown = ["the", "we", "must", "congress", "peace", "farmers", "missiles", "poland"]
places = [corpus.words.index(word) for word in shown]
fig, ax = plt.subplots(figsize=(7.2, 3))
for offset, power, color, name in ((-0.2, 1, BLUE, "as they occur"), (0.2, 0.75, ORANGE, "to the power ¾")):
    ax.bar(np.arange(8) + offset, shares_by_power(corpus.counts, power)[places] * 100, 0.4, color=color, label=name)
ax.set_xticks(range(8), shown)
ax.set(yscale="log", xlabel="word", ylabel="share in %", title="The power ¾ takes from the frequent and gives to the rare")
ax.legend()
plt.show()
hit_by_chance = shares_by_power(corpus.counts, 1) @ (1 - (1 - shares_by_power(corpus.counts, 0.75)) ** K)
print(f"riddles whose noise will hold the right answer by chance: {hit_by_chance:.1%}")

# %% [markdown]
# One step of the training, for a batch of riddles. Follow it with your finger: look up the hints, take their mean, draw
# the noise, call *your* function, take the steps. Contexts at the ends of a sentence are filled up with a blank, an extra row
# of zeros. `adagrad_step` goes downhill, and gives every word its own pace: large steps for rare words, small ones for
# words that have been corrected a thousand times (it has a few lines; look into `coursekit/data/speech_words.py`).

# %% tags=["skip-grading"]
def train_step(batch, W_in, W_out, pace_in, pace_out, rate, rng):
    """Learn from the riddles of a batch, in place.  Returns their mean loss."""
    context, size = speech_riddles.contexts[batch], speech_riddles.sizes[batch][:, None]  # (B, 2m), (B, 1)
    h = W_in[context].sum(axis=1) / size  # (B, D)
    drawn = np.searchsorted(noise_up_to, rng.random((len(batch), K)))  # (B, K)
    words = np.column_stack([speech_riddles.targets[batch], drawn])  # (B, 1+K)
    loss, dh, drows = negative_sampling_loss(h, W_out[words])
    adagrad_step(W_out, pace_out, words.ravel(), drows.reshape(-1, D), rate)
    adagrad_step(W_in, pace_in, context.ravel(), np.repeat(dh / size, 2 * m, axis=0), rate)
    W_in[V] = 0  # the blank learns nothing
    return loss.mean()


# %% tags=["skip-grading"]
rng = np.random.default_rng(1)
W_in = rng.uniform(-0.5 / D, 0.5 / D, (V + 1, D)).astype(np.float32)
W_in[V] = 0
before, W_out = W_in[:V].copy(), np.zeros((V, D), dtype=np.float32)
paces = np.full(V + 1, 0.1, np.float32), np.full(V, 0.1, np.float32)

with until_written():
    needs("context_windows", "negative_sampling_loss")
    began, epochs = time.perf_counter(), 5
    batches = [batch for _ in range(epochs)
               for batch in np.array_split(rng.permutation(len(speech_riddles)), len(speech_riddles) // 1024)]
    rates = np.linspace(0.5, 0, len(batches))  # large steps at first, small ones in the end
    history = [train_step(batch, W_in, W_out, *paces, rate, rng)
               for batch, rate in zip(track(batches, "reading five times"), rates)]
    vectors, words = W_in[:V], corpus.words
    print(f"{epochs * len(speech_riddles):,} riddles in {time.perf_counter() - began:.0f} s")

# %% tags=["skip-grading"]
with until_written():
    needs("context_windows", "negative_sampling_loss")
    smooth = np.convolve(history, np.full(50, 1 / 50), "valid")
    fig, ax = plt.subplots(figsize=(7.2, 3))
    ax.plot(np.arange(len(history)) * epochs / len(history), history, color="#9ccbe8", lw=0.5, label="each batch")
    ax.plot(np.arange(25, 25 + len(smooth)) * epochs / len(history), smooth, label="mean of 50 batches")
    ax.axhline((1 + K) * np.log(2), color=ORANGE, label="knowing nothing: 6 ln 2 = 4.16")
    ax.set(xlabel="times through the speeches", ylabel="loss (nats a riddle)", ylim=(0, 4.6))
    ax.set_title(f"From {history[0]:.2f} to {smooth[-1]:.2f}: it learns to tell real from random")
    ax.legend(ncols=3, fontsize=9)
    print(f"the very first steps overshoot, up to {max(history):.1f}, and leave the picture")
    print(f"at the end of the first reading, when each riddle is new: {smooth[len(history) // epochs - 50]:.2f}")

# %% [markdown]
# The little stairs stand where the speeches begin anew: a text that was read before is easier. So the last number flatters the model: on new speeches it
# would be higher. Zero is out of reach, since many words fit a gap. The noise itself often draws one that fits, now and then even the right answer. (We let it stand; the inventors' program skips such a draw.)

# %% [markdown]
# ## Part F · Who is near to whom?
#
# The riddles have done their work; we keep the word vectors. Is *iraq* near to *iran*? Near means here: **pointing in the same
# direction**. The length of a vector has to do with how often the word occurs, and we do not care about that. So we take the
# **cosine** of the angle between two vectors, their dot product divided by both lengths: 1 for the same direction, 0 for a
# right angle, −1 for opposite directions.
#
# $$\cos(a, b) = \frac{a \cdot b}{|a|\,|b|}$$

# %% [markdown]
# ### 5 · `nearest` ●○○ (10 minutes, 2 points)
#
# `nearest(word, vectors, words, k=5)`
#
# * `vectors`: array `(V, D)`, none of its rows zero; `words`: the list (or tuple) of the $V$ words, row by row, each once; `word` is one of them;
# * returns a list of the `k` words with the largest cosine to `word`, **the word itself left out**, the nearest first, as pairs
#   `(word, cosine)`. If there are fewer than `k` others, return them all.
#
# *By hand.* `vectors = [[1, 0], [10, 1], [0, 2], [-1, 0]]`, words `a b c d`: `nearest("a", …, k=2)` is `[("b", 0.995), ("c", 0.0)]`.
# That *b* is ten times as long does not matter.

# %% question="nearest"
def nearest(word, vectors, words, k=5):
    """The k words that point in the most similar direction.  vectors: (V, D) → list of (word, cosine)."""
    ### BEGIN SOLUTION
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit[words.index(word)]
    order = [i for i in np.argsort(-cosines) if words[i] != word]
    return [(words[i], float(cosines[i])) for i in order[:k]]
    ### END SOLUTION


# %% test="nearest" points=2
check("nearest", nearest)

# %% tags=["skip-grading"]
with until_written():
    needs("context_windows", "negative_sampling_loss", "nearest")
    for word in "january three million children peace nuclear iraq farm poor she must more".split():
        found_words = nearest(word, vectors, words, 6)
        print(f"{word:>9s}  " + ", ".join(f"{other} {cosine:.2f}" for other, cosine in found_words))

# %% [markdown]
# Nobody told it what a month is. But not every neighbour is a good one: which would you cross out?
#
# And now the map: all vectors have 64 numbers, the paper has two. The method t-SNE lays the words out so that neighbours stay neighbours, as far as two dimensions allow.
# (Only *near* has a meaning in such a picture. The axes have none, and how far two groups lie apart says nothing.) We picked ten kinds of
# words and gave them colours. The grey dots are the rest of the 300 most frequent words. Does the model put our kinds together?

# %% tags=["skip-grading"]
groups = {"months": "january february march april june july august september october november december",
          "numbers": "two three four five six seven eight nine ten twenty thirty",
          "places": "iraq iran afghanistan korea vietnam china russia japan germany europe cuba poland",
          "helpers": "must should will would can could may might shall cannot",
          "families": "children kids parents mothers families students teachers seniors",
          "arms": "weapons missiles aircraft ballistic chemical biological strategic conventional arms",
          "money": "million billion trillion dollars percent cents thousand",
          "ideals": "peace freedom liberty democracy justice dignity prosperity stability",
          "energy": "oil gas coal energy fuel solar",
          "time": "years months weeks days hours decades"}

with until_written():
    needs("context_windows", "negative_sampling_loss")
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 5), width_ratios=[1, 2.7])
    draw_map(before, words, groups, ax=axes[0], labels=False, title="Before: chaos", others=words[:300])
    draw_map(vectors, words, groups, ax=axes[1], title="After: most of our ten kinds lie together", others=words[:300])
    fig.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=10,
               fontsize=9, handletextpad=0, columnspacing=1.2)

# %% [markdown]
# ### In your own words (a) · opposites (5 minutes, 2 points)
#
# Look again at the neighbours of *more*. The nearest is probably its opposite, *less*. Other
# models put *hot* beside *cold* in the same way. Explain from the riddles why opposites become neighbours, and say what “near”
# therefore means here, and what not. Two to four sentences.

# %% [markdown] written="why_opposites" points=2
# ### BEGIN SOLUTION
# *More* and *less* stand in the same places, so they are hints for the same answers (*than*, *ever*, *money*): every such riddle pulls their
# rows of $W_{\text{in}}$ in the same directions (and, as answers to the same hints, their rows of $W_{\text{out}}$, too). Near means “can
# stand in the same place”, which is likeness of use: same kind of word, same topic. It does not mean “says the
# same”; that two words are opposites cannot be told from the distance.
# ### END SOLUTION

# %% [markdown]
# ## Part G · Calculating with words
#
# If directions mean something, so do *differences*. The way from *can* to *could* is one step of grammar. What happens if
# you take the same step from *will*?
#
# $$\text{could} - \text{can} + \text{will} \approx \;?$$
#
# Read it as a riddle: *can is to could as will is to …*

# %% [markdown]
# ### 6 · `analogy` ●●○ (10 minutes, 2 points)
#
# `analogy(a, b, c, vectors, words, k=3)`: *a is to b as c is to …* First bring all rows of `vectors` to length 1, so that all words
# have the same say. Then compute $v = b - a + c$, and find the words whose vectors have the largest cosine with $v$.
# **The three words of the question do not count as answers.** Returns a list of `k` pairs `(word, cosine)`, the best first
# (all, if there are fewer than `k`).
#
# *By hand.* `vectors = [[1, 0], [0, 2], [-1, 0], [-3, 1]]`, words `a b c d`: the unit rows give $v = (0, 1) - (1, 0) + (-1, 0) = (-2, 1)$, so
# `analogy("a", "b", "c", …)` is `[("d", 0.990)]`.

# %% question="analogy"
def analogy(a, b, c, vectors, words, k=3):
    """“a is to b as c is to …”, the k best answers.  vectors: (V, D) → list of (word, cosine)."""
    ### BEGIN SOLUTION
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    way = unit[words.index(b)] - unit[words.index(a)] + unit[words.index(c)]
    cosines = unit @ way / np.linalg.norm(way)
    order = [i for i in np.argsort(-cosines) if words[i] not in (a, b, c)]
    return [(words[i], float(cosines[i])) for i in order[:k]]
    ### END SOLUTION


# %% test="analogy" points=2
check("analogy", analogy)

# %% tags=["skip-grading"]
asked = ["can could will", "is was are", "good better strong", "nation nations country",
         "he his she", "he she father", "farms farmers schools", "school teachers hospital",
         "first second third", "europe european america", "january february march", "man men woman"]
with until_written():
    needs("context_windows", "negative_sampling_loss", "analogy")
    for question in asked:
        found_words = analogy(*question.split(), vectors, words)
        print("{:>8s} is to {:9s} as {:>8s} is to  ".format(*question.split())
              + ", ".join(word for word, _ in found_words))

# %% [markdown]
# Some answers are brilliant, some are nearly right, and some are nonsense. The first answers of the upper five rows were the same with
# three random starts; the lower rows come and go (try `default_rng(2)` in the training). So let us be fair and count. Here are a
# few families of pairs; every pair asks about every other pair of its family.

# %% tags=["skip-grading"]
families = {"he : his": "i my we our he his she her they their you your",
            "good : better": "good better strong stronger great greater high higher low lower large larger",
            "is : was": "is was are were do did make made take took come came say said give gave begin began",
            "can : could": "can could will would may might",
            "nation : nations": "nation nations country countries family families child children "
                                "worker workers year years day days city cities school schools"}


def riddles_of_family(row):
    """All riddles (a, b, c, d) of a family: a is to b as c is to d."""
    pairs = list(zip(row.split()[::2], row.split()[1::2]))
    return [(a, b, c, d) for a, b in pairs for c, d in pairs if a != c]


def riddles_hit(asked, k):
    """How many riddles have their answer among the first k."""
    return sum(d in dict(analogy(a, b, c, vectors, words, k)) for a, b, c, d in asked)

# %% tags=["skip-grading"]
with until_written():
    needs("context_windows", "negative_sampling_loss", "analogy")
    family_riddles = {name: riddles_of_family(row) for name, row in families.items()}
    sizes = np.array([len(asked) for asked in family_riddles.values()])
    very_first, first_five = (np.array([riddles_hit(asked, k) for asked in family_riddles.values()]) for k in (1, 5))
    names = [f"{name} ({size})" for name, size in zip(families, sizes)]
    fig, ax = plt.subplots(figsize=(7.4, 3.3))
    ax.barh(names, first_five / sizes, color="#9ccbe8", label="among the first five")
    ax.barh(names, very_first / sizes, color=BLUE, height=0.45, label="the very first")
    ax.set(xlabel=f"share of right answers, out of {V:,} words", ylabel="family (riddles)", xlim=(0, 1))
    ax.set_title(f"The right word is among the first five in {first_five.sum() / sizes.sum():.0%} of {sizes.sum()} riddles")
    ax.legend(loc="lower right")
    ax.invert_yaxis()
    plt.show()
    print(f"the very first: {very_first.sum() / sizes.sum():.0%}; by blind guessing {1 / V:.2%}, among the first five {5 / V:.2%}")

# %% [markdown]
# Far better than chance. But how much of it is the *way*, and how much the rule that the three words of the question do not count? Leave
# the rule out. And as a yardstick leave the way out: simply take the word nearest to *c*, by the rule.

# %% tags=["skip-grading"]
def row_of_length_one(word):
    row = vectors[words.index(word)]
    return row / np.linalg.norm(row)


def likeness_of_ways(family):
    """The mean cosine between the ways a → b of two pairs of a family: 1 if they are parallel."""
    pairs = family.split()
    ways = np.array([row_of_length_one(b) - row_of_length_one(a) for a, b in zip(pairs[::2], pairs[1::2])])
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    return (ways @ ways.T)[~np.eye(len(ways), dtype=bool)].mean()


def end_of_the_way(a, b, c):
    """The word nearest to b − a + c, whichever it is: the place is named “?” and its neighbour asked for."""
    place = row_of_length_one(b) - row_of_length_one(a) + row_of_length_one(c)
    return nearest("?", np.vstack([vectors, place]), (*words, "?"), 1)[0][0]


with until_written():
    needs("context_windows", "negative_sampling_loss", "nearest", "analogy")
    asked = sum(family_riddles.values(), [])
    without_rule = [end_of_the_way(a, b, c) for a, b, c, _ in asked]
    no_way = [next(w for w, _ in nearest(c, vectors, words, 3) if w not in (a, b)) for a, b, c, _ in asked]
    for name, found_words in (("by the rule", [analogy(a, b, c, vectors, words, 1)[0][0] for a, b, c, _ in asked]),
                              ("no rule", without_rule), ("no way, only near to c", no_way)):
        is_d, is_b, is_c = (np.mean([f == riddle[i] for f, riddle in zip(found_words, asked)]) for i in (3, 1, 2))
        print(f"{name:>23s}: {is_d:.0%} right; b itself {is_b:.0%}, c itself {is_c:.0%}")
    print("mean cosine of two ways: " + ", ".join(f"{name} {likeness_of_ways(row):.2f}" for name, row in families.items()))

# %% [markdown]
# The way helps: with the rule nearly three times as many are right as near *c* alone. But it is a short way: without the rule the nearest word is one of the question's own about four times in
# five. Published results lean on that rule, too (Linzen 2016). Why are the plurals worst? The way from *nation* to *nations* is less like that from *day* to *days* than *he → his* is like *she → her*; and where ways
# differ as much (*can → could*), the words are at least near neighbours. And all that our model has read is half a million words, as much as five novels. The vectors that Google gave away
# in 2013, on which everybody tried *king − man + woman ≈ queen* (by the same rule), had read a hundred billion.

# %% tags=["skip-grading"]
with until_written():
    needs("context_windows", "negative_sampling_loss", "nearest")
    print(", ".join(word for word, _ in nearest("may", vectors, words, 8)))

# %% [markdown]
# ### In your own words (b) · one word, two meanings (5 minutes, 2 points)
#
# Look at the neighbours of *may*, just above. *May* is a helper verb, and it is a month. Where did
# its vector end up, and why there? What would a model have to do differently, to treat the *may* of *we may* and the *May* of *in May* as
# two things? Two to four sentences.

# %% [markdown] written="one_vector" points=2
# ### BEGIN SOLUTION
# Its neighbours are *could, will, would, might*: only helper verbs. In the table that we keep, every word has a single row, and it goes where most of its
# riddles pull it; in the speeches *may* is a verb nearly every time, so the few months hardly count. (If both were equally frequent,
# the vector would lie in between, and its neighbours would be a mixture of verbs and months.) A model would have to give a word a different vector in every sentence,
# depending on the words around it: after *in* a month, after *we* a verb. That is what attention will do in lab 07.
# ### END SOLUTION

# %% [markdown]
# ## Optional · The twin: skip-gram (5 minutes, no points)
#
# CBOW asks: *here are the hints, which word is missing?* Its twin **skip-gram** (same authors, same paper) turns the riddle round: *here is the word, name one of its
# neighbours*. No mean is taken; $h$ is simply the word's own row of $W_{\text{in}}$, and the right answer is one of the hints. Everything else stays, your loss
# included. In each step we draw one hint for every word:

# %% tags=["skip-grading"]
def skip_gram_step(batch, W_in, W_out, pace_in, pace_out, rate, rng):
    """One step of skip-gram, in place: from the word to one of its hints.  Returns the mean loss."""
    word, place = speech_riddles.targets[batch], (rng.random(len(batch)) * speech_riddles.sizes[batch]).astype(int)
    drawn = np.searchsorted(noise_up_to, rng.random((len(batch), K)))  # (B, K)
    answers = np.column_stack([speech_riddles.contexts[batch, place], drawn])  # (B, 1+K)
    loss, dh, drows = negative_sampling_loss(W_in[word], W_out[answers])
    adagrad_step(W_out, pace_out, answers.ravel(), drows.reshape(-1, D), rate)
    adagrad_step(W_in, pace_in, word, dh, rate)
    return loss.mean()

# %% tags=["skip-grading"]
with until_written():
    needs("context_windows", "negative_sampling_loss", "nearest")
    rng = np.random.default_rng(1)
    twin_in, twin_out = rng.uniform(-0.5 / D, 0.5 / D, (V, D)).astype(np.float32), np.zeros((V, D), dtype=np.float32)
    paces = np.full(V, 0.1, np.float32), np.full(V, 0.1, np.float32)
    batches = [batch for _ in range(5)
               for batch in np.array_split(rng.permutation(len(speech_riddles)), len(speech_riddles) // 1024)]
    twin_history = [skip_gram_step(batch, twin_in, twin_out, *paces, rate, rng)
                    for batch, rate in zip(track(batches, "skip-gram"), np.linspace(0.5, 0, len(batches)))]
    print(f"loss: skip-gram {np.mean(twin_history[-50:]):.2f}, CBOW {smooth[-1]:.2f}")
    for word in "january three children peace must".split():
        for name, table in (("CBOW", vectors), ("skip-gram", twin_in)):
            print(f"{word:>9s}, {name:9s}  " + ", ".join(other for other, _ in nearest(word, table, words, 5)))

# %% [markdown]
# Two or three of the five neighbours are the same. Skip-gram takes more words that stand *beside* the word (*three … years*, *three … months*): words side by side share most of their window, so they have the same neighbours to guess. The loss of skip-gram is higher, for its question is harder: with one word known there are many
# possible neighbours. Its inventors found it better for rare words, but slower.
#
# And a bridge to lab 01, where we *counted*: Levy and Goldberg (2014) showed that skip-gram with negative sampling, if the vectors are long enough, in effect takes apart a table made of counts (the logarithm of how much
# more often two words meet than chance would have it, less the logarithm of $K$) into the product of two thin tables. Do just that: count, take the logarithm (0 below chance),
# and keep the 64 strongest directions of the table. No loss, no step downhill; the neighbours are of the same kind, if rougher:

# %% tags=["skip-grading"]
with until_written():
    needs("context_windows", "nearest")
    pair_numbers = speech_riddles.targets[:, None].astype(int) * (V + 1) + speech_riddles.contexts  # a number for each pair of words
    met = np.bincount(pair_numbers.ravel(), minlength=V * (V + 1)).reshape(V, V + 1)[:, :V]  # how often the two meet
    by_chance = np.outer(met.sum(axis=1), met.sum(axis=0)) / met.sum()
    surplus = np.log(np.maximum(met, 1e-9) / np.maximum(by_chance, 1e-9)).clip(0)  # (V, V)
    directions = np.random.default_rng(1).normal(size=(V, D))
    for _ in range(4):
        directions = np.linalg.qr(surplus @ directions)[0]  # each round turns them towards the strongest
    counted = surplus @ directions + 1e-9  # no row may be zero
    for word in "january three children peace must".split():
        print(f"{word:>9s}, counted    " + ", ".join(other for other, _ in nearest(word, counted, corpus.words, 5)))

# %% [markdown]
# ## Optional · Whose words are these? (5 minutes, no points)
#
# The model learned from what people said, so it learned what they thought as well. Take a few words of menace and a few of friendship. To which of the two do the names of
# countries (and *soviet*) lie nearer?

# %% tags=["skip-grading"]
friendly = "peace freedom friends strong hope good great partner allies".split()
hostile = "threat aggression terror danger enemies evil weapons regime dangerous".split()
countries = ("soviet russia china japan germany europe britain france poland mexico cuba korea vietnam "
             "iraq iran afghanistan israel america").split()
with until_written():
    needs("context_windows", "negative_sampling_loss", "nearest")
    leaning = {}
    for name in countries:
        cosine_to = dict(nearest(name, vectors, words, V))  # to every other word
        to_groups = [[cosine_to[word] for word in group if word in cosine_to] for group in (friendly, hostile)]
        leaning[name] = np.mean(to_groups[0]) - np.mean(to_groups[1])
    by_leaning = sorted(leaning, key=leaning.get)
    fig, ax = plt.subplots(figsize=(7.2, 4.2))
    ax.barh(by_leaning, [leaning[name] for name in by_leaning], color=[ORANGE] * 3 + [BLUE] * (len(by_leaning) - 3))
    ax.axvline(np.mean(list(leaning.values())), color=INK, lw=1, ls=":", label="mean of these names")
    ax.set(xlabel="mean cosine with friendly words, minus that with hostile words", ylabel="country or region")
    ax.set_title(f"The vectors take sides: {by_leaning[0]}, {by_leaning[1]} and {by_leaning[2]} lean furthest to the hostile side", fontsize=11)
    ax.legend()
    plt.show()
    spoken = [{words[i] for i in sentence} for sentence in corpus.sentences]
    for word in ("women", "men"):
        found_words = [other for other, _ in nearest(word, vectors, words, 7)]
        together = [sum({word, other} <= sentence for sentence in spoken) for other in found_words]
        print(f"{word:>5s}  " + ", ".join(f"{other} ({count})" for other, count in zip(found_words, together)))
    print("in brackets: the sentences that hold both")

# %% [markdown]
# Nobody wrote a line about good and bad countries into the program. It is the view of the presidents since 1945 and the wars of their times; but the numbers do not tell you that it is a view. (Zero is no
# neutral ground: words of foreign policy live near *threat* and *weapons* anyway.) Look at the neighbours of *women*, too. Some share sentences with them (*minorities*). Others, such as *disabled*, hardly ever or never: they
# only stand in similar places. Vectors that had read far more, all of it news, completed *man is to computer programmer as woman is to …* with *homemaker* (Bolukbasi and others, 2016). By the rule of your `analogy`
# *programmer* itself was not allowed as an answer (Nissim and others, 2020): a method can add to what it finds. Whoever sorts applications or ranks answers with such vectors passes the view on, and it looks like arithmetic.
#
# And be as careful with your own finding: the two lists are ours, half a million words are few, and another random start moves the bars. (*soviet*, *iraq* and *iran* were among the four lowest bars with each of three
# starts. The difference *she − he*, along other words, did not survive such a test here: it came out another way each time. So we do not show it.)

# %% [markdown]
# ### Optional · Break it to believe it ●○○ (5 minutes, no points)
#
# Five impostors of `cbow_backward` wait behind the card below. One of them says `dW_in[context] += share`. All five pass a test with the case by hand:

# %% locked="weak_input"
weak_input = ([0, 1], 0, np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([[2.0, 0], [0, 2], [2, 2]]))

# %% [markdown]
# Let `counterexample()` return an input `(context, target, W_in, W_out)` for which they go wrong. Your own function says what is right. (What is special about a context of two words? And how large may
# scores be?)

# %% question="counterexample" points=0
def counterexample():
    """An input that gives wrong gradients away: (context, target, W_in, W_out)."""
    ### BEGIN SOLUTION
    W_in, W_out = np.random.default_rng(0).normal(size=(2, 5, 3))
    return [1, 4, 1], 3, W_in, 5000 * W_out
    ### END SOLUTION

# %% tags=["skip-grading"]
with until_written():
    needs("cbow_backward")
    break_it(counterexample, cbow_backward)

# %% [markdown]
# ## What you can do now
#
# You can turn words into vectors that know about each other, from nothing but raw text. You have worked out gradients by
# hand and checked them. The first layer of every transformer that reads text is such a table, $W_{\text{in}}$, with one row for every token; there
# it is trained together with all the rest.

# %% locked="progress"
progress()

# %% [markdown]
# ## What is still missing
#
# * A bag has no order. *The dog bit the man* and *the man bit the dog* have the same mean, so to CBOW they are the same. How can
#   a vector know *where* its word stands? That is **lab 06**.
# * A word has one vector, whatever stands around it. How can it listen to its neighbours? That is **lab 07**.

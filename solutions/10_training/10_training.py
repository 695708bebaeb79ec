# ---
# jupyter:
#   course:
#     data: []
#     minutes: 110
#     demo: 10_training
# ---

# %% [markdown]
# # 10 · Training: how does it learn?
#
# **What you already have.** Blocks (lab 09) that take vectors in and give vectors out, tokens and positions to feed them, and at the end a
# linear layer that gives one number for each word: the **logits**. A softmax, and there is a probability for each next word.
#
# **What is missing.** All the weights are random, so it talks nonsense. There are millions of them, and nobody can set them by hand.
#
# **In this lab** you build everything between a pile of sentences and a model that has learned from them. You will be able to
#
# * turn one sentence into many lessons, without letting the model peek at the answers;
# * measure how wrong a model is, in a number that ignores the padding and doesn't reward boasting;
# * write Adam, the optimizer that, with its close relative AdamW, trained most of the language models you have heard of, and the learning rate of the first transformer;
# * put it together, train a transformer and the recurrent network that it replaced, and see for yourself which one wins, and at what.
#
# *110 minutes: 75 for the six functions, 10 for the two answers in words, 25 to read and look.*

# %% locked="setup"
import torch
from torch import nn
from coursekit import break_it, check, progress, start

start("10_training")

# %% [markdown]
# ## 1 · One sentence, five lessons
#
# The lecture translates *Soy un estudiante* to *I am a student*. The encoder reads the Spanish sentence; the decoder says the English one, word after word, and each
# time it sees the words that it has said so far. Two marks help: what it sees first is `<bos>` (*beginning of sentence*), and when nothing is left
# to say, it says `<eos>` (*end of sentence*). In training we know the whole answer, so we can write down at once everything that it should learn:
#
# | the decoder sees | and should say |
# |---|---|
# | `<bos>` | I |
# | `<bos>` I | am |
# | `<bos>` I am | a |
# | `<bos>` I am a | student |
# | `<bos>` I am a student | `<eos>` |
#
# Four words, five lessons: the last one is to stop. Must the decoder run five times for them? No. Give it the longest line, `<bos>` I am a student, once. The causal mask
# (lab 07) lets position $t$ see only positions $0 \dots t$, so position 0 takes the first lesson, position 1 the second, and so on, **all at the same time**. What we need
# is the line that goes in, and for each position the word that should come out:
#
# | position | 0 | 1 | 2 | 3 | 4 |
# |---|---|---|---|---|---|
# | decoder input | `<bos>` | I | am | a | student |
# | label | I | am | a | student | `<eos>` |
#
# The labels are the input, **shifted by one**. And the input holds the *right* words, even where the model would have said something else: that is called **teacher forcing**.
#
# **The shift is everything.** Suppose that you forget it and put the labels in as the input. Then position 1 sees *am* and is asked to say *am*. A model learns that in no time,
# shows an accuracy of nearly 100%, and can't translate a single word: when it has to write by itself, there is nothing to copy from. (Section 7 tries it.)

# %% [markdown]
# ### Question 1 · `shift_targets` ●○○ (10 minutes, 3 points)
#
# `shift_targets(sentences, bos, eos, pad)` makes both rows for a whole batch of sentences. It returns the pair `(decoder_input, labels)`.
#
# * `sentences`: a list of B sentences (one at least); each is a list of word numbers, without `bos` and `eos`, and of any length (perhaps 0);
# * `bos`, `eos`, `pad`: three numbers. A word may have one of these numbers, even that of `pad`, and is kept like any other word. A batch is a
#   rectangle, so short rows are filled up with `pad`;
# * both results are tensors of integers (`torch.long`) of shape `(B, T)`, where `T` is the length of the longest sentence plus 1. Row $b$ of the
#   first holds `bos` and then sentence $b$; row $b$ of the second holds the sentence and then `eos`; what is left of a row, at its end, holds `pad`.
#
# **By hand.** The words *a, am, I, thanks, student* have the numbers 0 to 4. With `eos = 5`, `bos = 6` and `pad = 7`, the sentences *I am a student* and *thanks*, that is
# `[[2, 1, 0, 4], [3]]`, give
#
# ```
# decoder_input [[6, 2, 1, 0, 4],      labels [[2, 1, 0, 4, 5],
#                [6, 3, 7, 7, 7]]              [3, 5, 7, 7, 7]]
# ```

# %% question="shift_targets"
def shift_targets(sentences, bos, eos, pad):
    """B lists of word numbers → decoder input (bos …) and labels (… eos), both (B, T) integers, padded."""
    ### BEGIN SOLUTION
    T = max(len(sentence) for sentence in sentences) + 1

    def filled(row):
        return row + [pad] * (T - len(row))

    decoder_input = [filled([bos, *sentence]) for sentence in sentences]
    labels = [filled([*sentence, eos]) for sentence in sentences]
    return torch.tensor(decoder_input), torch.tensor(labels)
    ### END SOLUTION

# %% test="shift_targets" points=3
check("shift_targets", shift_targets)

# %% tags=["skip-grading"]
import matplotlib.pyplot as plt
from coursekit.figures import BLUE, GREEN, INK, ORANGE, RED, heatmap
from coursekit.notebook.progress import track
from coursekit.notebook.until_written import needs, until_written

words = ["a", "am", "I", "thanks", "student", "<eos>"]  # the lecture's output vocabulary: numbers 0 to 5
EOS, BOS, PAD = 5, 6, 7  # <bos> and padding are never said, so they need no place among the six

with until_written():
    needs("shift_targets")
    decoder_input, labels = shift_targets([[2, 1, 0, 4]], BOS, EOS, PAD)
    name = [*words, "<bos>", "<pad>"]
    for seen, said in zip(decoder_input[0], labels[0]):
        print(f"{name[seen]:>8} → {name[said]}")

# %% [markdown]
# ## 2 · What should it say?
#
# The lecture draws the *target model outputs*: at each position a probability of 1 for the right word and 0 for all others. That is a **one-hot** row,
# as in lab 00. It is also a little unreasonable. A softmax gives exactly 1 only if a logit is infinite, so a model that chases this target pushes
# its logits further and further apart, and becomes more and more sure of itself, also where it is wrong.
#
# **Label smoothing** asks for a little less. A share ε (say *epsilon*) of the probability is taken away and spread evenly over all $V$ words, the right one
# included:
#
# $$q_v = (1 - \varepsilon)\,[v = \text{right word}] + \frac{\varepsilon}{V}$$
#
# **By hand.** $V = 4$, ε = 0.2. Each word gets 0.2/4 = 0.05, and the right one 0.8 more: 0.85. The row is 0.85, 0.05, 0.05, 0.05 and sums to 1.
#
# > **A note on conventions.** Some programs spread ε only over the $V - 1$ wrong words, or leave out the padding as well. With many words the difference is tiny; we
# > use the form above, which is PyTorch's. The first transformer used ε = 0.1.

# %% [markdown]
# ### Question 2 · `label_smoothing` ●○○ (10 minutes, 3 points)
#
# `label_smoothing(targets, V, epsilon)` returns a tensor of floats with one row of V probabilities for every target.
#
# * `targets`: integers (`torch.long`) from 0 to V − 1, of any shape (…), a single one of shape `()` too; the result has shape `(…, V)`;
# * `epsilon`: from 0 (then the rows are one-hot) up to, but not including, 1.

# %% question="label_smoothing"
def label_smoothing(targets, V, epsilon):
    """targets (…) integers → (…, V): ε / V for each of the V words, and 1 − ε more for the right one."""
    ### BEGIN SOLUTION
    one_hot = nn.functional.one_hot(targets, V)
    return (1 - epsilon) * one_hot + epsilon / V
    ### END SOLUTION

# %% test="label_smoothing" points=3
check("label_smoothing", label_smoothing)

# %% tags=["skip-grading"]
with until_written():
    needs("label_smoothing")
    targets = torch.tensor([2, 1, 0, 4, 5])  # I am a student <eos>
    fig, axes = plt.subplots(1, 2, figsize=(9.2, 3.4))
    for ax, epsilon, title in zip(axes, (0.0, 0.1), ("ε = 0: be certain", "ε = 0.1: leave a little for the others")):
        heatmap(label_smoothing(targets, 6, epsilon), [words[t] for t in targets], words, ax=ax, numbers=True, vmin=0, vmax=1,
                title=title, xlabel="probability of this word")
    axes[0].set_ylabel("position: what is right")
    plt.show()

# %% [markdown]
# ## 3 · How wrong is it?
#
# The model says $p$, the target is $q$. Their **cross-entropy** is the average surprise of somebody who believes $p$ while the truth is $q$:
#
# $$H(q, p) = -\sum_v q_v \log p_v$$
#
# For a one-hot $q$ only one term is left, $-\log p_\text{right}$: lab 00's old friend. A sentence's probability is the product over its words,
# $P(y \mid x) = \prod_t P(y_t \mid y_{<t}, x)$; its *negative* logarithm is a sum of surprises, and the loss is their **mean over all words** of the batch.
#
# **By hand.** Logits $0$ and $\log 3$, so $p = (\tfrac14, \tfrac34)$; the second word is right. Then $H = -\log\tfrac34 = 0.288$. With ε = 0.2 the target is
# $(0.1, 0.9)$ and $H = -0.1 \log\tfrac14 - 0.9\log\tfrac34 = 0.139 + 0.259 = 0.398$.
#
# Two things to remember. A model that knows nothing has equal logits, so $p = 1/V$ and $H = \log V$, with or without smoothing. A fresh model is a little above, as its logits are
# not quite equal; if your first loss is far above $\log V$, something is broken. And with smoothing a perfect model does not reach 0. (For real sentences it would not without it either: often more than one word is right. Papers often print $e^H$ without smoothing, the **perplexity**: among how
# many equally likely words the model hesitates. Equal logits have perplexity $V$.)
#
# **The padding is no lesson.** It stands in the labels only because a batch must be a rectangle. A position whose label is `pad` does not count: not in the sum, and not
# in the number that the sum is divided by.
#
# > **A note on the lecture.** It writes the loss as a plain sum over all words of all sentences. That has its minimum at the same place, but its size, and the size of its gradient,
# > depends on how many words the batch happens to have. We take the mean over the real words.

# %% [markdown]
# ### Question 3 · `masked_cross_entropy` ●●○ (20 minutes, 4 points)
#
# `masked_cross_entropy(logits, targets, pad, smoothing=0.0)` returns the loss, a tensor with a single number (shape `()`), through which gradients flow.
#
# * `logits`: floats `(…, V)`, large ones too; `targets`: integers (`torch.long`) `(…)`, with the same leading axes (one, or several);
# * `pad`: the number that marks padding. It may be a word number, or a number that is no word at all (7 with V = 6, or −1). At least one target is not padding;
# * `smoothing`: the ε of question 2;
# * the result is the mean of $H(q, p)$ over the positions whose target is not `pad`.
#
# Hints: Select the real positions first, `logits[targets != pad]` has shape `(n, V)`. `torch.log_softmax` is safe for large logits; the logarithm of a softmax is not.
# You may use your `label_smoothing`, or sort the formula by its two parts: $(1-\varepsilon)\cdot(-\log p_\text{right})$ plus $\varepsilon$ times the mean over $v$ of $-\log p_v$.
# (PyTorch has the whole thing ready-made, `cross_entropy`, and half of it, `nll_loss`. Not here: you write it.)

# %% question="masked_cross_entropy"
def masked_cross_entropy(logits, targets, pad, smoothing=0.0):
    """Mean cross-entropy over the real positions.  logits (…, V), targets (…) → one number."""
    ### BEGIN SOLUTION
    real = targets != pad
    surprise = -torch.log_softmax(logits[real], dim=-1)  # (n, V)
    right = surprise.gather(-1, targets[real][:, None]).squeeze(-1)  # (n,)
    return ((1 - smoothing) * right + smoothing * surprise.mean(dim=-1)).mean()
    ### END SOLUTION

# %% test="masked_cross_entropy" points=4
check("masked_cross_entropy", masked_cross_entropy)

# %% tags=["skip-grading"]
import math

with until_written():
    needs("shift_targets", "masked_cross_entropy")
    print(f"knows nothing: {masked_cross_entropy(torch.zeros(1, 5, 6), labels, PAD):.4f} = ln 6 = {math.log(6):.4f}")

    belief = torch.linspace(0.5, 0.9999, 400)  # probability of the right one of two words
    logits = torch.stack([torch.log(1 - belief), torch.log(belief)], dim=-1)  # (400, 2)
    fig, ax = plt.subplots(figsize=(6.6, 3.2))
    for epsilon, colour in ((0.0, INK), (0.1, BLUE), (0.3, ORANGE)):
        loss = torch.stack([masked_cross_entropy(one[None], torch.tensor([1]), -1, epsilon) for one in logits])
        ax.plot(belief, loss, color=colour, label=f"ε = {epsilon:g}")
        ax.plot(belief[loss.argmin()], loss.min(), "o", color=colour)
    ax.set(xlabel="probability that the model gives to the right word (V = 2)", ylabel="loss", ylim=(0, 1.2))
    ax.set_title("With smoothing, being too sure costs")
    ax.legend()
    plt.show()

# %% [markdown]
# And does the padding keep quiet? Three sentences in one batch; for each position we measure how strongly the loss pulls at its logits.

# %% tags=["skip-grading"]
with until_written():
    needs("shift_targets", "masked_cross_entropy")
    _, batch_labels = shift_targets([[2, 1, 0, 4], [3], [2, 1]], BOS, EOS, PAD)
    logits = torch.randn(3, 5, 6, generator=torch.Generator().manual_seed(0)).requires_grad_()
    masked_cross_entropy(logits, batch_labels, PAD).backward()
    _, ax = plt.subplots(figsize=(7.2, 2.4))
    heatmap(logits.grad.norm(dim=-1), ["I am a student", "thanks", "I am"], "01234", ax=ax, numbers=True, aspect="auto", vmin=0,
            title="No gradient reaches the padding", xlabel="position", ylabel="sentence", colorbar="size of the gradient")
    for (row, column), label in zip(torch.cartesian_prod(torch.arange(3), torch.arange(5)), batch_labels.flatten()):
        ax.texts[int(5 * row + column)].set_text(name[label] if label != PAD else "pad: 0")
    plt.show()
    print("at the padding:", logits.grad[batch_labels == PAD].abs().max().item())

# %% [markdown]
# ### Optional · Break it to believe it ●●○ (10 minutes, no points)
#
# A test is as good as the inputs that it tries. Six impostors of `masked_cross_entropy` wait behind the card below; one of them divides by all positions, padding included. All six pass this test:

# %% locked="weak_input"
weak_input = (torch.tensor([[[2.0, 0, 1], [0, 1, 3]]]), torch.tensor([[1, 2]]), 0)

# %% [markdown]
# Let `counterexample()` return `(logits, targets, pad)` or `(logits, targets, pad, smoothing)` for which they go wrong. Can one batch expose all six?

# %% question="counterexample" points=0
def counterexample():
    """A batch that gives wrong losses away: (logits, targets, pad) or (logits, targets, pad, smoothing)."""
    ### BEGIN SOLUTION
    logits = torch.arange(40.0).reshape(2, 4, 5).double().sin()
    logits[0, 0] *= 2000
    return logits, torch.tensor([[0, 2, 1, 4], [1, 3, 3, 3]]), 3, 0.2
    ### END SOLUTION

# %% tags=["skip-grading"]
with until_written():
    needs("masked_cross_entropy")
    break_it(counterexample, masked_cross_entropy)

# %% [markdown]
# ## 4 · Down the hill: Adam
#
# PyTorch computes the gradient $g$ of the loss with respect to every weight θ (*theta*). Plain gradient descent takes a step against it, $\theta \leftarrow \theta - \eta g$, with the
# **learning rate** η (*eta*). That has a weakness. Where the valley is steep the gradient is large and the step too long; where it is flat the step is too short. One η for millions of
# weights can't be right for all.
#
# **Adam** gives each weight its own step. It keeps two running means for every weight: $m$ of the gradient (which way has it been going?) and $v$ of the gradient squared
# (how large is it usually?). In step number $t = 1, 2, 3, \dots$
#
# $$m \leftarrow \beta_1 m + (1-\beta_1)\,g \qquad\qquad v \leftarrow \beta_2 v + (1-\beta_2)\,g^2$$
#
# Both began at 0, so at first they are too small. Dividing by $1-\beta^t$ repairs exactly that:
#
# $$\hat m = \frac{m}{1-\beta_1^t} \qquad \hat v = \frac{v}{1-\beta_2^t} \qquad\qquad \theta \leftarrow \theta - \eta\,\frac{\hat m}{\sqrt{\hat v} + \epsilon}$$
#
# The $\epsilon$ (another one!) only protects from 0/0. (**AdamW**, Loshchilov and Hutter 2019, also shrinks each weight a little in every step, $\theta \leftarrow (1-\eta\lambda)\,\theta$: *weight decay*.)
#
# **By hand.** θ = 1, η = 0.1, β₁ = 0.9, β₂ = 0.98.
#
# | $t$ | $g$ | $m$ | $v$ | $\hat m$ | $\hat v$ | step | θ |
# |---|---|---|---|---|---|---|---|
# | 1 | 0.5 | 0.05 | 0.005 | 0.5 | 0.25 | 0.1 · 0.5 / 0.5 = 0.1 | 0.9 |
# | 2 | −0.1 | 0.035 | 0.0051 | 0.184 | 0.129 | 0.1 · 0.184 / 0.359 = 0.051 | 0.849 |
#
# Look at the first step: 0.5/0.5. It has length η **whatever the size of the gradient**. In the second the gradient has turned round, and the weight still goes on, more slowly: $m$ remembers.

# %% [markdown]
# ### Question 4 · `adam_step` ●●○ (15 minutes, 4 points)
#
# `adam_step(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9)` returns the triple `(parameter, m, v)` after step number `t`.
#
# * `parameter`, `gradient`, `m`, `v`: tensors of one shape (any, also `()`); `t`: 1, 2, 3, …; `rate`: η;
# * the results are **new** tensors; the four that you were given stay as they are (no gradient needs to flow through this);
# * $\epsilon$ is added *after* the root.
#
# (The defaults are those of the first transformer. `torch.optim.Adam` is what you are writing, so don't call it.)

# %% question="adam_step"
def adam_step(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """One step of Adam (Kingma and Ba 2015, algorithm 1) → new parameter, m and v."""
    ### BEGIN SOLUTION
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient**2
    m_hat = m / (1 - beta1**t)
    v_hat = v / (1 - beta2**t)
    return parameter - rate * m_hat / (v_hat.sqrt() + eps), m, v
    ### END SOLUTION

# %% test="adam_step" points=4
check("adam_step", adam_step)

# %% [markdown]
# A long narrow valley: forty times steeper across than along. And the same valley turned by 45°:

# %% tags=["skip-grading"]
valley = torch.diag(torch.tensor([1.0, 40.0]))  # the height at a point p is p · valley · p / 2, its gradient valley · p
turn = torch.tensor([[1.0, -1.0], [1.0, 1.0]]) / math.sqrt(2)
begin = torch.tensor([-4.0, 1.4])


def descend(update, turned=False, steps=40):
    """The way of 40 steps (41, 2) and the height at its end; ``update(point, gradient, t)`` gives the next point."""
    slope, point = (turn @ valley @ turn.T, turn @ begin) if turned else (valley, begin)
    points = [point]
    for t in range(1, steps + 1):
        points.append(update(points[-1], slope @ points[-1], t))
    return torch.stack(points), (points[-1] @ slope @ points[-1] / 2).item()


def plain(rate):
    return lambda point, gradient, t: point - rate * gradient


def adam(rate):
    m, v = torch.zeros(2), torch.zeros(2)

    def update(point, gradient, t):
        nonlocal m, v
        point, m, v = adam_step(point, gradient, m, v, t, rate)
        return point

    return update


with until_written():
    needs("adam_step")
    shown = (("gradient descent, η = 0.049", plain, 0.049, RED, "v"), ("gradient descent, η = 0.045", plain, 0.045, GREEN, "s"),
             ("gradient descent, η = 0.01", plain, 0.01, BLUE, "o"), ("Adam, η = 0.25", adam, 0.25, ORANGE, "^"))
    x, y = torch.meshgrid(torch.linspace(-4.6, 1.6, 200), torch.linspace(-4.6, 2.2, 200), indexing="xy")
    grid = torch.stack([x, y], dim=-1)
    fig, axes = plt.subplots(1, 2, figsize=(9.8, 4.0), width_ratios=(3, 2))
    for ax, turned, title in ((axes[0], False, "Adam: as fast along as across"), (axes[1], True, "… but not in a slanted valley")):
        slope = turn @ valley @ turn.T if turned else valley
        ax.contour(x, y, ((grid @ slope) * grid).sum(-1) / 2, levels=[0.1, 0.5, 2, 5, 10, 20, 40, 60], colors="#c3ccd5", linewidths=1)
        for label, kind, rate, colour, mark in shown:
            ax.plot(*descend(kind(rate), turned)[0].T, marker=mark, ms=3, lw=1.2, color=colour, label=label)
        ax.plot(0, 0, "*", color=INK, ms=12)
        ax.set(xlabel="one weight")
        ax.set_title(title)
    axes[0].set(ylabel="another weight", ylim=(-1.8, 2.2))
    axes[1].set(xlim=(-4.6, 1.2), ylim=(-4.4, 1.4), aspect="equal")
    axes[0].legend(fontsize=9, loc="upper right")
    plt.show()
    print("height after 40 steps    η: valley, turned valley")
    for label, kind, rates in (("gradient descent", plain, (0.01, 0.045, 0.049, 0.051)), ("Adam", adam, (0.1, 0.25, 0.5))):
        ends = [f"{rate}: {descend(kind(rate))[1]:.2f}, {descend(kind(rate), turned=True)[1]:.2f}" for rate in rates]
        print(f"{label:<16}", "    ".join(ends))

# %% [markdown]
# With the right η plain gradient descent arrives as well as Adam. A smaller one crawls along the valley, a slightly larger one swings across it, or out of it. Adam ends near the bottom with each of three η, from 0.1 to 0.5, because it divides each weight's step by the usual size of that weight's own gradient: *this* valley becomes round. A slanted one stays narrow, for Adam looks at each weight by itself (with η = 0.5 it gets there, too).
# (It overshoots and comes back: that is $m$, which keeps rolling.)
#
# Does it learn the lecture's sentence? The "model" here is nothing but a table of 5 × 6 logits, trained by your loss and your Adam:

# %% tags=["skip-grading"]
with until_written():
    needs("shift_targets", "label_smoothing", "masked_cross_entropy", "adam_step")
    table, m, v = torch.zeros(5, 6), torch.zeros(5, 6), torch.zeros(5, 6)
    history = []
    for t in range(1, 101):
        table.requires_grad_()
        loss = masked_cross_entropy(table, labels[0], PAD, smoothing=0.1)
        (gradient,) = torch.autograd.grad(loss, table)
        history.append(loss.item())
        table, m, v = adam_step(table.detach(), gradient, m, v, t, 0.1)
    fig, axes = plt.subplots(1, 2, figsize=(9.2, 3.3), width_ratios=(2, 3))
    axes[0].plot(history, color=BLUE)
    axes[0].axhline(math.log(6), color="#8a97a3", lw=1, ls="--")
    axes[0].annotate("ln 6", (50, math.log(6)), textcoords="offset points", xytext=(0, -14))
    target = label_smoothing(labels[0], 6, 0.1)
    floor = -(target * target.log()).sum(-1).mean().item()  # the loss of a model that says exactly what is asked
    axes[0].axhline(floor, color="#8a97a3", lw=1, ls=":")
    axes[0].annotate(f"{floor:.2f}: a perfect model", (30, floor), textcoords="offset points", xytext=(0, 5))
    axes[0].set(xlabel="step", ylabel="loss", ylim=(0, None))
    axes[0].set_title("From ln 6 downhill")
    heatmap(table.softmax(dim=-1), [words[t] for t in labels[0]], words, ax=axes[1], numbers=True, vmin=0, vmax=1,
            title="The trained outputs", xlabel="probability of this word")
    plt.show()

# %% [markdown]
# These are the lecture's *trained model outputs*: nearly certain, and not quite, because ε = 0.1 asks for 0.9 + 0.1/6 = 0.92.
#
# ## 5 · Slowly at first
#
# At the beginning the weights are random, Adam's two means know nearly nothing, and a long step can do lasting damage. So the first transformer **warmed up**: the learning rate
# grew in a straight line for some steps, and then fell like $1/\sqrt{\text{step}}$:
#
# $$\eta = d_{model}^{-0.5} \cdot \min\!\left(\text{step}^{-0.5},\ \text{step}\cdot\text{warmup}^{-1.5}\right)$$
#
# The two arguments of the minimum are equal when step = warmup: there it is highest. For $d_{model} = 512$ and a warm-up of 4,000 steps that is
# $1/\sqrt{512 \cdot 4000} = 0.0007$. (Its nickname, *Noam*, comes from Noam Shazeer, one of the paper's authors.)

# %% [markdown]
# ### Question 5 · `noam_rate` ●○○ (5 minutes, 2 points)
#
# `noam_rate(step, d_model, warmup)` returns the learning rate, a number.
#
# * `step`: a whole number, 0 or more. The formula begins at 1, and some programs begin to count at 0: give step 0 the rate of step 1;
# * `d_model`, `warmup`: whole numbers above 0.

# %% question="noam_rate"
def noam_rate(step, d_model, warmup):
    """The learning rate of Vaswani et al. 2017 (equation 3) in step number ``step``."""
    ### BEGIN SOLUTION
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    ### END SOLUTION

# %% test="noam_rate" points=2
check("noam_rate", noam_rate)

# %% tags=["skip-grading"]
with until_written():
    needs("noam_rate")
    steps = range(1, 20001, 50)
    fig, ax = plt.subplots(figsize=(7.2, 3.1))
    for d_model, warmup, colour in ((512, 4000, BLUE), (512, 8000, ORANGE), (256, 4000, GREEN)):
        ax.plot(steps, [noam_rate(step, d_model, warmup) for step in steps], color=colour, label=f"$d_{{model}}$ = {d_model}, warm-up {warmup:,}")
    ax.set(xlabel="step", ylabel="learning rate")
    ax.set_title("A straight climb, then a long way down")
    ax.legend()
    plt.show()
    print(f"the highest rate of the first transformer: {noam_rate(4000, 512, 4000):.6f}")

# %% [markdown]
# ## 6 · One step of training
#
# Everything is there. What is left is to do things in the right order. From now on PyTorch's optimizers do the bookkeeping of $m$ and $v$ (you know what is inside). One step is
#
# 1. put the model in **training mode** (`model.train()`: dropout is on, in all modules inside it, too);
# 2. set the learning rate: `group["lr"] = rate` for each `group` in `optimizer.param_groups`;
# 3. **clear the old gradients** (`optimizer.zero_grad()`): PyTorch *adds* new gradients to what is already there;
# 4. forward: the model's logits, and the loss;
# 5. backward: `loss.backward()` puts a gradient at each parameter that had a part in it (any other keeps `None`);
# 6. clip: if the gradient of all parameters together is longer than `clip`, shorten it to that length (`nn.utils.clip_grad_norm_` does it). One odd batch does less
#    harm then;
# 7. the optimizer takes its step.
#
# What must not change places: 3 comes before 5, and 6 between 5 and 7. Forget a step, and in most cases *nothing complains*. It just learns badly.

# %% [markdown]
# ### Question 6 · `train_step` ●●○ (15 minutes, 4 points)
#
# `train_step(model, optimizer, loss_function, batch, rate, clip=1.0)` does the seven things and returns the loss (before the update) as a plain Python number: `loss.item()`.
#
# * `model(source, decoder_input)` returns logits;
# * `optimizer`: one of PyTorch's whose `step()` needs no argument (SGD, Adam, …), made for the model's parameters; `rate`: its learning rate for this step;
# * `loss_function(logits, labels)` returns the loss;
# * `batch`: the triple `(source, decoder_input, labels)`;
# * `clip`: a number above 0. (`clip_grad_norm_` adds 1e-6 to the length before it divides; with or without that is right.)

# %% question="train_step"
def train_step(model, optimizer, loss_function, batch, rate, clip=1.0):
    """One update of the model on one batch → the loss before it, a float."""
    ### BEGIN SOLUTION
    source, decoder_input, labels = batch
    model.train()
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss = loss_function(model(source, decoder_input), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.item()
    ### END SOLUTION

# %% test="train_step" points=4
check("train_step", train_step)

# %% [markdown]
# ## 7 · A race
#
# Before the transformer, most neural translators were recurrent networks with attention: an encoder that reads word by word, a decoder that writes word by word, and lab 07's additive attention between
# them, the **align-and-translate** model. The lectures say why it was replaced. Don't take it on trust: look.
#
# The task is *reversing*: the source is a random sequence of 4 to 10 letters, the target is the same backwards. Both models get the same 300 batches of 64 sequences, the same optimizer, the same
# learning rate (one that suits both; we tried several), and about the same number of weights (69,000 and 70,000). The transformer is made of one encoder block and one decoder block of lab 09: yours, if they are at hand.

# %% tags=["skip-grading"]
import time

from coursekit.models import reversing
from coursekit.checks.earlier_labs import mine
from coursekit.models.reversing import AlignAndTranslate, SmallTransformer, padded, sequences


def reversal(count, shortest, longest, generator):
    """A batch: (source, decoder_input, labels)."""
    rows = sequences(count, shortest, longest, generator)
    return padded(rows), *shift_targets([row[::-1] for row in rows], reversing.BOS, reversing.EOS, reversing.PAD)


def accuracy(model, batch):
    """The share of right words among all that are not padding."""
    source, decoder_input, labels = batch
    model.eval()
    with torch.no_grad():
        right = model(source, decoder_input).argmax(dim=-1) == labels
    return right[labels != reversing.PAD].float().mean().item()


def loss_function(logits, labels):
    return masked_cross_entropy(logits, labels, reversing.PAD)


torch.set_num_threads(1)  # models as small as these are fastest on one processor core
blocks = mine("09", "EncoderBlock"), mine("09", "DecoderBlock")


def fresh_racers():
    """Both models, with the same random weights each time."""
    torch.manual_seed(1)
    return {"align and translate": AlignAndTranslate(), "transformer": SmallTransformer(*blocks)}


for name_of_model, model in fresh_racers().items():
    print(f"{name_of_model}: {sum(p.numel() for p in model.parameters()):,} weights")

# %% tags=["skip-grading"]
with until_written():
    needs("shift_targets", "masked_cross_entropy", "noam_rate", "train_step")
    draw = torch.Generator().manual_seed(2)
    unseen = reversal(200, 4, 10, draw)
    batches = [reversal(64, 4, 10, draw) for _ in range(300)]
    racers, curves, seconds, path = fresh_racers(), {}, {}, []
    for name_of_model, model in racers.items():
        optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
        curves[name_of_model], seconds[name_of_model] = [(0, accuracy(model, unseen))], 0.0
        for step, batch in enumerate(track(batches, f"{name_of_model}: steps"), start=1):
            began = time.process_time()
            # 512 is not their size: it sets how high the curve gets, 0.0044
            train_step(model, optimizer, loss_function, batch, noam_rate(step, d_model=512, warmup=100))
            seconds[name_of_model] += time.process_time() - began
            if step % 20 == 0:
                curves[name_of_model].append((step, accuracy(model, unseen)))
            if name_of_model == "transformer" and step % 5 == 0:
                path.append(nn.utils.parameters_to_vector(model.parameters()).detach().clone())
    for name_of_model, spent in seconds.items():
        print(f"{name_of_model}: {curves[name_of_model][-1][1]:.1%} of the words right after 300 steps, {1000 * spent / 300:.0f} ms of processor time a step")
    print("(The bars' clock counts more: the tests on the way, and what else this computer does.)")

# %% [markdown]
# Three questions, one picture each. Which learns faster, step for step? How long does a step take when the sequences get longer? And what happens with sequences that are longer than
# any of the training?

# %% tags=["skip-grading"]
with until_written():
    needs("shift_targets", "masked_cross_entropy", "noam_rate", "train_step")
    lengths, beyond = (8, 16, 32, 64, 96), range(4, 17)
    cost = {name_of_model: [] for name_of_model in racers}
    for name_of_model, model in racers.items():
        for length in lengths:
            batch, times = reversal(32, length, length, draw), []
            for _ in range(4):
                began = time.process_time()
                loss_function(model(*batch[:2]), batch[2]).backward()
                times.append(time.process_time() - began)
            cost[name_of_model].append(min(times))
    slower = [a / b for a, b in zip(*cost.values())]
    print("processor time, recurrent against transformer:", ", ".join(f"{k:.1f} to 1 at {length}" for k, length in zip(slower, lengths)))
    fig, axes = plt.subplots(1, 3, figsize=(10.4, 3.3))
    for (name_of_model, model), colour, mark in zip(racers.items(), (ORANGE, BLUE), "so"):
        axes[0].plot(*zip(*curves[name_of_model]), color=colour, label=name_of_model)
        axes[1].plot(lengths, [1000 * t for t in cost[name_of_model]], mark + "-", color=colour)
        tests = [accuracy(model, reversal(100, length, length, draw)) for length in beyond]
        axes[2].plot(beyond, tests, mark + "-", ms=4, color=colour)
    axes[0].set(xlabel="batches seen", ylabel="share of right words", ylim=(0, 1.03))
    axes[0].set_title("Step for step: nearly a tie", fontsize=11)
    axes[0].legend(fontsize=9)
    axes[1].set(xlabel="length of the sequences", ylabel="processor time, ms a batch")
    axes[1].set_title("The transformer takes less time", fontsize=11)
    axes[2].axvspan(4, 10, color="#eef2f5", zorder=0)
    axes[2].set(xlabel="length (grey: seen in training)", ylabel="share of right words", ylim=(0, 1.03), xticks=range(4, 17, 2))
    axes[2].set_title("The recurrent one reaches further", fontsize=11)
    plt.show()

# %% [markdown]
# * **Step for step** neither is clearly better at this small size (one run each). Both have attention, and attention is what the task needs.
# * **In processor time** the transformer wins as soon as the sequences get longer. (In the race itself it is nearly a tie: its batches are twice as large, and clipping and Adam cost both the same.) It needs a few large matrix products for all positions together, where the recurrent network needs many small ones, each waiting for the one before. On
#   a graphics card, where thousands of cores share a large product, waiting costs far more (not measured here). This is what made large models possible. (The advantage grows far more slowly than the length, at the end hardly or not at all: both pay for attention from each position to each, $T^2$.)
# * **On longer sequences than it has seen** the transformer breaks down within a few positions: it has never met position 11 (nor, in the encoder, position 10), and its clock hands (lab 06) stand together in a way that is new to it. The recurrent network,
#   which does the same thing at every position, gets worse slowly. (Lab 06 shows which positions reach further; the surest remedy is to train on longer sequences.)
#
# A first test of any training loop: can it learn one single batch by heart? It must. (In the race no batch came twice. With few data something *is* learned by heart: keep some sentences apart, a *validation set*, and stop when their loss rises while that of the training still falls.)

# %% [markdown]
# **Break a step.** The same transformer, 150 of the same batches, and one thing wrong at a time. Guess first: which mistakes will you see in the column of the *right words in front*, as in training?

# %% tags=["skip-grading"]
def right_by_itself(model, batch):
    """The share of right words when the model has only its own words in front of it."""
    source, _, labels = batch
    written = torch.full((len(source), 1), reversing.BOS)
    model.eval()
    with torch.no_grad():
        for _ in range(labels.shape[1]):
            written = torch.cat([written, model(source, written)[:, -1:].argmax(dim=-1)], dim=1)
    return (written[:, 1:] == labels)[labels != reversing.PAD].float().mean().item()


def train_with(what, shift=True, clear=True, times=1, warm_up=True, steps=150):
    """Train a transformer with or without one part of the recipe, at a multiple of the race's rate; returns it."""
    model = fresh_racers()["transformer"]
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    if not clear:
        optimizer.zero_grad = model.zero_grad = lambda *args, **more: None
    for step, (source, decoder_input, labels) in enumerate(track(batches[:steps], what), start=1):
        rate = times * noam_rate(step if warm_up else max(step, 100), d_model=512, warmup=100)
        train_step(model, optimizer, loss_function, (source, decoder_input if shift else labels, labels), rate)
    return model


with until_written():
    needs("shift_targets", "masked_cross_entropy", "noam_rate", "train_step")
    recipes = {
        "all as it should be": {},
        "the shift forgotten": {"shift": False},
        "old gradients not cleared": {"clear": False},
        "no warm-up": {"warm_up": False},
        "5 times the rate": {"times": 5},
        "5 times the rate, no warm-up": {"times": 5, "warm_up": False},
    }
    lines = [f"{'':<34}right words in front    by itself"]
    for what, recipe in recipes.items():
        model = train_with(what, **recipe)
        tested = (unseen[0], unseen[1] if recipe.get("shift", True) else unseen[2], unseen[2])
        lines.append(f"{what:<34}{accuracy(model, tested):>20.0%}{right_by_itself(model, unseen):>13.0%}")
    print("\n".join(lines))

# %% [markdown]
# The worst mistake shows the best number, as long as the right words stand in front. (Gradients from `torch.autograd.grad` leave nothing to clear: the third row is then like the first.) Warm-up is not always needed: at the race's rate this small model is further after 150 steps without it (with it, 100 of them go by at a lower rate; one run each), but only with it does it survive five times that rate. In deep models it matters more.
#
# ## 8 · The landscape
#
# The transformer has 70,000 weights, so its loss is a landscape over a space of 70,000 dimensions. We kept its weights after every fifth step. Here is the plane through its end that comes closest to this path, with
# the loss, on unseen sequences, as the height. The path itself runs beside the plane, not in it; so each of its dots, seen from above, has the colour of its *own* loss:

# %% tags=["skip-grading"]
from coursekit.figures.loss_landscape import heights, map_of

with until_written():
    needs("shift_targets", "masked_cross_entropy", "noam_rate", "train_step")
    transformer = racers["transformer"].eval()
    directions, way = map_of(path)
    margin = 0.35 * (way.amax(0) - way.amin(0))
    across, up = (torch.linspace(low, high, 23) for low, high in zip(way.amin(0) - margin, way.amax(0) + margin))
    few = [part[:48] for part in unseen]
    level = heights(transformer, lambda: loss_function(transformer(*few[:2]), few[2]), path[-1], directions, across.tolist(), up.tolist(), track)
    fig, ax = plt.subplots(figsize=(7.8, 4.2))
    losses = [heights(transformer, lambda: loss_function(transformer(*few[:2]), few[2]), weights, directions, [0.0], [0.0]).item() for weights in path]
    hills = ax.contourf(across, up, level.clamp(max=6).sqrt(), levels=24, cmap="cividis")
    ax.plot(*way.T, lw=1, color="white")
    ax.scatter(*way.T, c=torch.tensor(losses).clamp(max=6).sqrt(), cmap=hills.cmap, norm=hills.norm, edgecolors="white", linewidths=0.5, s=34, zorder=3)
    ax.plot(*way[-1], "*", color=ORANGE, ms=14)
    bar = fig.colorbar(hills, ax=ax, label="loss (the colours follow its root)")
    bar.set_ticks([h**0.5 for h in (0.1, 0.5, 1, 2, 3, 4, 6)], labels=["0.1", "0.5", "1", "2", "3", "4", "6 or more"])
    ax.set(xlabel="first direction of the path", ylabel="second direction")
    ax.set_title("Three hundred steps down, beside a map of the valley")
    plt.show()
    points = torch.stack(path)
    share = (way - way.mean(0)).square().sum() / (points - points.mean(0)).square().sum()
    print(f"loss at the dots: from {losses[0]:.2f} to {losses[-1]:.2f}. The plane holds {share:.0%} of the path's variance.")

# %% [markdown]
# Where the path seems to cross a ridge, its dots are darker than the map: it goes round, through dimensions that the map does not show. (And the arc is no discovery: drawn along its two main directions, a random walk makes one, too; Antognini
# and Sohl-Dickstein 2018.)

# %% [markdown]
# ## 9 · In your own words (10 minutes, 2 points each)
#
# **(a)** Somebody trains a translator with $V = 1000$ words. The loss of the first batch is 40; after an hour it has come down to 6.9, and there it stays. What does each of the two numbers tell you, and what would you check first? Three or four
# sentences.

# %% [markdown] written="two_losses" points=2
# ### BEGIN SOLUTION
# 6.9 is ln 1000, the loss of a model that finds all words equally likely: it has learned nothing about the words, not even which ones are frequent (that alone would bring it below). 40 is far above: at first it was very sure of wrong words, so its logits
# were much too large (weights drawn too large, a missing norm or scaling). All that it learned was to be less sure. Check the size of the first logits; then whether
# a single batch can be learned by heart: if not, look for a rate that is far too large and for layers that no gradient reaches. (Gradients cleared just before the step are not it: the loss would have stayed at 40. Nor are labels of other inputs: how frequent the words are could still be learned.)
# ### END SOLUTION

# %% [markdown]
# **(b)** In the race, each model won something. Say for which task you would still choose the recurrent one, and why everybody trains transformers nevertheless.

# %% [markdown] written="race" points=2
# ### BEGIN SOLUTION
# The recurrent model treats every position alike, so it copes with sequences that are somewhat longer than those of the training; for a small task with few data and lengths that
# can't be foreseen it is a sensible choice. But in training it must go through the positions one after another. The transformer computes all positions together, so the same computer shows it more text in the
# same time (on a graphics card many times more), and with more text and more weights it gets better and better; length is dealt with by training on long sequences.
# ### END SOLUTION

# %% [markdown]
# ## What you can do now

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# * You turn a sentence into one more lesson than it has words, and know the mistake that makes a model look perfect.
# * Your loss counts only real words, and keeps the model modest.
# * You know what is inside Adam, why the learning rate climbs before it falls, and the seven parts of a training step.
# * You have seen a transformer and a recurrent network learn the same thing, and what each of them is good at.
#
# ## What is still missing
#
# A trained model gives probabilities. In the race we always compared its best word with the right one, with the right words in front of it. But when it writes by itself, it has to *choose* a word, and live with it. How to choose is
# lab 11.

# ---
# jupyter:
#   course:
#     data: []
#     minutes: 80
# ---

# %% [markdown]
# # 06 · Positions: where is a word?
#
# **What you already have.** Tokens (lab 04), and for each token a vector that says what it means (lab 05). In lab 03
# every earlier word cast a vote, and you saw that a voter's place in the sentence made no difference.
#
# **The question of this lab.** Order carries meaning. How do we tell a model *where* a word stands, with numbers that
# stay small, that work in sentences of any length, and that make "three words further on" look the same everywhere?
#
# When you are through you can
#
# * say why the position's number itself is a bad answer, and why its binary digits are nearly a good one;
# * build the sinusoidal positions of the first transformer, clock by clock;
# * write down the matrix that moves every position three words on;
# * rotate vectors so that their dot product knows distances (RoPE, as in today's large models).
#
# *80 minutes: 53 for the four functions, 6 for the answer in words, 21 to read and look.*

# %% locked="setup"
import matplotlib.pyplot as plt
import numpy as np
from coursekit import break_it, check, progress, start
from coursekit.figures import BLUE, GREEN, INK, ORANGE, PURPLE, heatmap
from coursekit.notebook.until_written import needs, until_written

start("06_positions")

# %% [markdown]
# ## Nine words, two meanings

# %%
first = "I do not like apples and you like oranges".split()
second = "you like apples and I do not like oranges".split()
print("the same nine words:", sorted(first) == sorted(second))

# %% [markdown]
# Who likes apples? The two sentences disagree, and only the order of their words says so. But whatever merely *adds up*
# one row for each word, as the votes of lab 03 do, cannot see it. (The vectors here are random; yours of lab 05 would fare no better.)

# %%
rng = np.random.default_rng(0)
vector = {word: rng.normal(size=8) for word in sorted(set(first))}  # 8 numbers a word
X_first = np.array([vector[word] for word in first])  # (9, 8)
X_second = np.array([vector[word] for word in second])
difference = X_first.sum(axis=0) - X_second.sum(axis=0)
print("largest difference of the two sums:", np.abs(difference).max().round(12))

# %% [markdown]
# ## Why not simply the number of the place?
#
# The word at place *t* could carry the number *t* along. Or, so that it does not grow, the fraction *t*/(T − 1), which
# runs from 0 to 1. Look at both in a short and in a longer sentence:

# %% tags=["skip-grading"]
fig, axes = plt.subplots(1, 2, figsize=(7.6, 3))
for T, style, colour in [(21, "o-", ORANGE), (6, "s-", BLUE)]:
    t = np.arange(T)
    axes[0].plot(t, t, style, color=colour, ms=4, label=f"{T} words")
    axes[1].plot(t, t / (T - 1), style, color=colour, ms=4, label=f"{T} words")
axes[0].axhspan(-2, 2, color=GREEN, alpha=0.25, lw=0)
axes[0].text(20, -0.2, "a word vector's numbers", ha="right", va="center", fontsize=9)
axes[0].set_title("The number runs away …"), axes[0].set_ylabel("t")
axes[1].set_title("… the fraction changes its step"), axes[1].set_ylabel("t / (T − 1)")
for ax in axes:
    ax.set_xlabel("place t"), ax.legend(loc="center right")
plt.show()

# %% [markdown]
# The number grows without bound: at place 200 it is a hundred times as large as even the large numbers of the word that it is added to. The fraction stays small, but one word
# further on means +0.2 in the short sentence and +0.05 in the long one, so a model cannot learn what "the next word" looks
# like. From the failures we learn what we want:
#
# 1. **Unique**: no two places look the same.
# 2. **Bounded**: the numbers stay small, however long the sentence is.
# 3. **The same step everywhere**: one and the same rule leads from any *t* to *t* + 3, whatever the length of the sentence, and the
#    step has the same size everywhere.
# 4. **No end**: a sentence longer than all before is no problem.
#
# > **A note on the lecture.** One lecture tries $P_{t+1} = P_t + \Delta c$, then $P_t \cdot c$, then powers. All three run away or
# > creep towards a limit: adding a number, multiplying by a positive one and raising to powers move in one direction only. What moves for ever and stays where
# > it is? Something that *turns*.

# %% [markdown]
# ## The binary clock
#
# There is a well-known way to write large numbers with small ones: **digits**. Binary digits (bits) are only 0 and 1:
#
# | t | code | | t | code | | t | code | | t | code |
# |---|---|---|---|---|---|---|---|---|---|---|
# | 0 | 0000 | | 4 | 0100 | | 8 | 1000 | | 12 | 1100 |
# | 1 | 0001 | | 5 | 0101 | | 9 | 1001 | | 13 | 1101 |
# | 2 | 0010 | | 6 | 0110 | | 10 | 1010 | | 14 | 1110 |
# | 3 | 0011 | | 7 | 0111 | | 11 | 1011 | | 15 | 1111 |
#
# Read down the columns. The last bit flips at every step, the one before it every two steps, then every four, every
# eight. The bit with the value $2^k$ is the remainder of $\lfloor t / 2^k \rfloor$ when divided by 2. For t = 5: 5/1 → 5, odd, 1; 5/2 → 2, even,
# 0; 5/4 → 1, odd, 1; 5/8 → 0, even, 0. From high to low: 0101.

# %% [markdown]
# ### 1 · `binary_code` ●○○ (8 minutes, 4 points)
#
# `binary_code(p, bits)` writes positions in binary, one number for each bit.
#
# * `p`: whole numbers from 0 to $2^{\text{bits}} - 1$. A list or an array of any shape, or one single number.
# * `bits`: how many bits to write, from 1 to 62.
# * It returns an array with the shape of `p` and one more axis of length `bits` at the end, filled with the numbers 0
#   and 1. The **highest bit comes first**, as on paper. `p` itself stays as it is.
#
# By hand: `binary_code(5, 4)` is `[0, 1, 0, 1]`, and `binary_code([1, 16], 8)` has the rows `[0, 0, 0, 0, 0, 0, 0, 1]` and
# `[0, 0, 0, 1, 0, 0, 0, 0]`.
#
# `//` and `%` are whole-number division and remainder; they work on whole arrays. `np.unpackbits` and `np.binary_repr` are not
# allowed.

# %% question="binary_code"
def binary_code(p, bits):
    """Binary digits, highest first.  p: (...) whole numbers below 2**bits → (..., bits)."""
    ### BEGIN SOLUTION
    values = 2 ** np.arange(bits)[::-1]  # (bits,), from high to low
    return np.asarray(p)[..., None] // values % 2
    ### END SOLUTION


# %% test="binary_code" points=4
check("binary_code", binary_code)

# %% tags=["skip-grading"]
with until_written():
    needs("binary_code")
    codes = binary_code(np.arange(16), 4)  # (16, 4)
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 3.2))
    heatmap(codes.T, ["8s", "4s", "2s", "1s"], ax=axes[0], numbers=".0f", aspect="auto",
            title="Each bit flips half as often as the one below", xlabel="place t", ylabel="bit")
    axes[0].set_xticks(range(0, 16, 3))
    axes[1].bar(range(15), (codes[1:] != codes[:-1]).sum(axis=1), color=BLUE)
    axes[1].set_title("Neighbours 7 and 8 differ in every bit")
    axes[1].set_xlabel("from t to t + 1, t = …"), axes[1].set_ylabel("bits that flip")
    axes[1].set_yticks(range(5)), axes[1].set_xticks(range(0, 15, 2))
    plt.show()

# %% tags=["skip-grading"]
with until_written():
    needs("binary_code")
    print("the numbers 1 to 16 in eight bits:")
    for four in binary_code(np.arange(1, 17).reshape(4, 4), 8):
        print("  ".join("".join(str(int(bit)) for bit in code) for code in four))

# %% [markdown]
# Bits are unique and bounded. But look at the right picture: some steps flip one bit, the step from 7 to 8 flips all four.
# Place 8 looks as far from 7 as it can be. **The same step everywhere** fails, because bits jump.

# %% [markdown]
# ## Round off the corners
#
# Each bit is a wave with corners: for the 4s, four steps low, four steps high. It repeats every 8 steps, so its frequency is
# 1/8; the 1s have 1/2, the 2s 1/4, and so on. Replace the wave with corners by a smooth one of the same frequency:

# %% tags=["skip-grading"]
fine = np.linspace(0, 16, 801)
fig, axes = plt.subplots(3, 1, figsize=(7.2, 3.8), sharex=True)
for ax, value in zip(axes, (1, 2, 4)):
    period = 2 * value
    ax.plot(fine, (fine // value) % 2, color=INK, lw=1.2)
    wave = lambda t: 0.5 - 0.5 * np.sin(2 * np.pi * t / period)
    ax.plot(fine, wave(fine), color=ORANGE)
    ax.plot(np.arange(17), wave(np.arange(17)), "o", color=ORANGE, ms=4)
    ax.set_ylabel(f"{value}s"), ax.set_yticks([0, 1])
axes[0].set_title("Every bit is a wave with corners, and waves can be smooth")
axes[2].set_xlabel("place t")
plt.show()

# %% [markdown]
# Look at the dots, the whole places: the fastest wave is ½ at all of them and says nothing.
#
# A smooth wave is a **turning hand**, seen from the side. One look from the side is not enough: a hand that points to 2 o'clock is
# as high as one that points to 10. Two looks are: how far *right* the tip is, and how far *up*. For a hand that starts at 12 and turns
# clockwise by an angle $a$, these are $\sin a$ and $\cos a$. So each clock takes two columns: a sine and a cosine.
#
# And as with bits, we take several clocks, each slower than the one before by the same factor. If there are $D$ columns, clock
# number $i = 0, 1, 2, \dots$ turns by the angle $\omega_i$ at each step:
#
# $$\omega_i = \frac{1}{\text{base}^{\,2i/D}}, \qquad P_{t,\,2i} = \sin(\omega_i\, t), \qquad P_{t,\,2i+1} = \cos(\omega_i\, t).$$
#
# The first clock turns by 1 radian a step, a full turn in 6.28 steps. With many columns the last one needs nearly $6.28 \cdot \text{base}$
# steps; the transformer of 2017 has base = 10,000.
#
# By hand for *I am a robot*, with D = 4 and base 100: the clocks turn by $\omega_0 = 1$ and $\omega_1 = 1/100^{2/4} = 1/10$. The word *am* at
# place 1 gets sin 1 = 0.84, cos 1 = 0.54, sin 0.1 = 0.10, cos 0.1 = 1.00.

# %% [markdown]
# ### 2 · `sinusoidal` ●●○ (15 minutes, 6 points)
#
# `sinusoidal(T, D, base=10000.0)` gives the positions 0 to T − 1, one row each.
#
# * It returns an array `(T, D)`. Columns 0 and 1 are the sine and cosine of clock 0, columns 2 and 3 those of clock 1, and so on, with
#   the angles above. The two columns of a clock share **one** frequency: its exponent is $2i/D$ for both.
# * D may be **odd**. Then the last column is a sine whose cosine has no room; $D$ in the exponent stays the odd number.
# * T and D are whole numbers of at least 1; `base` is a positive number.
#
# `np.outer(a, b)` makes a table of all products; `P[:, 0::2]` are the columns 0, 2, 4, … of `P`, and you may assign to them.

# %% question="sinusoidal"
def sinusoidal(T, D, base=10000.0):
    """Sinusoidal positions (Vaswani et al., 2017): sine and cosine columns in turn.  → (T, D)."""
    ### BEGIN SOLUTION
    even = np.arange(0, D, 2)  # the column where each clock starts: 2i
    angles = np.outer(np.arange(T), 1 / base ** (even / D))  # (T, clocks)
    P = np.zeros((T, D))
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles[:, : D // 2])
    return P
    ### END SOLUTION


# %% test="sinusoidal" points=6
check("sinusoidal", sinusoidal)

# %% [markdown]
# Two tables stand in the lectures. Do you get the same numbers? The first is *I am a robot*, the second has D = 5 and the
# usual base; it is printed with one column for each position.

# %% tags=["skip-grading"]
with until_written():
    needs("sinusoidal")
    robot, five = sinusoidal(4, 4, base=100), sinusoidal(5, 5)
    print("D = 4, base 100: one row for each word of I am a robot")
    print(robot.round(2), "\n")
    print("D = 5, base 10,000: one column for each of the positions 0 to 4")
    print(np.array2string(five.T, formatter={"float": lambda v: f"{v:6.3f}"}))

# %% [markdown]
# > **A note on the lectures.** Three slips, so that you are not held up by them. One lecture calls $i$ the dimension; it is the number of the
# > *pair* of dimensions. One writes the last pair as $\sin(\omega_d t/2)$; it is $\sin(\omega_{d/2}\,t)$, the clock number $d/2$ (counted from
# > one). And one adds $P \in \mathbb{R}^{T \times d}$ to $x \in \mathbb{R}^{d \times T}$; one of the two must be turned over. Here both are (T, D).
#
# Now watch the clocks. With D = 8 and base 16 each is half as fast as the one before, just like bits:

# %% tags=["skip-grading"]
with until_written():
    needs("sinusoidal")
    P = sinusoidal(9, 8, base=16)
    fig, ax = plt.subplots(figsize=(8, 3.7))
    for i, colour in enumerate([BLUE, ORANGE, GREEN, PURPLE]):
        for t in range(9):
            right, up = P[t, 2 * i], P[t, 2 * i + 1]
            ax.add_patch(plt.Circle((t, -i), 0.4, fill=False, color="#c3cad1"))
            ax.plot([t, t + 0.4 * right], [-i, -i + 0.4 * up], color=colour, lw=2.5)
    ax.set_aspect("equal"), ax.set_xlim(-0.6, 8.6), ax.set_ylim(-3.6, 0.6)
    ax.set_xticks(range(9)), ax.set_yticks([0, -1, -2, -3], [f"clock {i}" for i in range(4)])
    ax.set_xlabel("place t"), ax.set_title("Four clocks tell the place, each half as fast as the one before")
    plt.show()

# %% tags=["skip-grading"]
with until_written():
    needs("sinusoidal")
    P = sinusoidal(100, 32)
    fig, axes = plt.subplots(1, 2, figsize=(7.8, 3.2), sharey=True)
    for ax, columns, title in zip(axes, (P[:, 0::2], P[:, 1::2]), ("sines", "cosines")):
        heatmap(columns.T, ax=ax, aspect="auto", cmap="PuOr", vmin=-1, vmax=1, xlabel="place t")
        ax.set_title(title, fontsize=10.5, weight="normal")
    axes[0].set_ylabel("clock"), axes[0].set_yticks(range(0, 16, 5))
    fig.colorbar(axes[1].images[0], ax=axes, label="value")
    fig.suptitle("Fast clocks at the top, slow ones at the bottom", x=0.01, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# ### Check the four wishes
#
# **Bounded**: every number lies between −1 and 1, and since $\sin^2 + \cos^2 = 1$ for each clock, every row has the same length,
# $\sqrt{D/2}$, if $D$ is even. **No end**: you can compute a row for any *t*. **Unique**: one clock alone comes back to almost the same angle after 44 steps,
# because that is very nearly seven full turns. Sixteen clocks at different speeds do not all come back together, not in 2,000 steps (place 0 stands for
# all: only the distance counts, see below):

# %% tags=["skip-grading"]
with until_written():
    needs("sinusoidal")
    one, sixteen = sinusoidal(2001, 2), sinusoidal(2001, 32)
    print("one clock, place 0 against place 44:", np.linalg.norm(one[44] - one[0]).round(4))
    nearest = np.linalg.norm(sixteen[1:] - sixteen[0], axis=1)
    print(f"sixteen clocks: of the places 1 to 2,000, place {nearest.argmin() + 1} is nearest to place 0,")
    print(f"at a distance of {nearest.min():.2f} (a row has the length {np.linalg.norm(sixteen[0]):g})")

# %% [markdown]
# The wish that remains, **the same step everywhere**, gets a section of its own. First the answer to our two sentences. The position is
# *added* to the word's vector. Think of the word's meaning as a point; at each place it is moved by the same amount in another direction:

# %% tags=["skip-grading"]
with until_written():
    needs("sinusoidal")
    word, P = np.array([2.0, 1.0]), sinusoidal(6, 2)
    _, ax = plt.subplots(figsize=(4.4, 4))
    ax.add_patch(plt.Circle(word, 1, fill=False, color="#c3cad1"))
    ax.plot(*word, "o", color=INK), ax.annotate("the word", word, (6, -12), textcoords="offset points")
    ax.plot(*(word + P).T, "o", color=ORANGE)
    for t, tip in enumerate(word + P):
        side = "left" if P[t, 0] > 0.3 else "right" if P[t, 0] < -0.3 else "center"
        ax.annotate(f"at place {t}", tip, 12 * P[t], textcoords="offset points", ha=side, va="center", fontsize=9)
    ax.set_title("Each place moves the word another way"), ax.set_aspect("equal")
    ax.set_xlim(0.3, 3.7), ax.set_ylim(-0.5, 2.5), ax.set_xlabel("dimension 0"), ax.set_ylabel("dimension 1")
    plt.show()

# %% [markdown]
# Is the order visible now? Careful: if we only *add up* again, it is not. The sum of (word + position) is the sum of the words plus
# the sum of the positions, and both are the same in the two sentences. It takes a step that is not a mere sum, such as the ReLU of lab
# 03, or the softmax of attention (lab 07):

# %% tags=["skip-grading"]
with until_written():
    needs("sinusoidal")
    W = np.random.default_rng(1).normal(size=(8, 5))  # any matrix will do
    P = sinusoidal(9, 8)
    pairs = {"words alone      ": (X_first, X_second), "words + positions": (X_first + P, X_second + P)}
    for what, (a, b) in pairs.items():
        plain = np.abs(a.sum(axis=0) - b.sum(axis=0)).max()
        bent = np.abs(np.maximum(0, a @ W).sum(axis=0) - np.maximum(0, b @ W).sum(axis=0)).max()
        print(f"{what}: the sums differ by {plain:.2f}, the sums after a ReLU by {bent:.2f}")

# %% [markdown]
# ## Three words further on
#
# When a clock's hand moves on by *c* steps, it turns by the angle $\omega c$, **wherever it stood before**. School mathematics has the
# formulas for the tip of a hand that is turned (the addition theorems):
#
# $$\sin(\omega t + \omega c) = \cos(\omega c)\,\sin(\omega t) + \sin(\omega c)\,\cos(\omega t)$$
# $$\cos(\omega t + \omega c) = -\sin(\omega c)\,\sin(\omega t) + \cos(\omega c)\,\cos(\omega t)$$
#
# Look at the right-hand sides: fixed numbers (they depend on *c* only), times the old sine and cosine. That is a matrix with two rows
# and two columns, applied to the old pair. And with several clocks, each pair of columns has such a matrix of its own:
#
# $$P_{t+c} = M_c\,P_t \quad\text{for every } t.$$

# %% [markdown]
# ### 3 · `shift_matrix` ●●○ (15 minutes, 5 points)
#
# `shift_matrix(c, D, base=10000.0)` is the matrix that moves every position on by *c*.
#
# * `c`: any number: negative (move back), zero, or not whole. `D`: an **even** number of columns, at least 2. `base`: as before.
# * It returns an array $M$ of shape `(D, D)`, with `M @ P[t]` equal to `P[t + c]` for the rows `P[t]` of `sinusoidal(T, D, base)`: position
#   vectors are columns here, and the matrix stands on their left.
# * It does not depend on *t*. It is zero except for 2 × 2 blocks along the diagonal: one for each clock, with the clock's $\omega_i$.
#
# By hand, for D = 2 (a single clock with ω = 1) and c = π/2, a quarter turn: a hand at 12, (sin, cos) = (0, 1), moves to 3 o'clock,
# (1, 0); and from there to 6 o'clock, (0, −1). Check your matrix against both.

# %% question="shift_matrix"
def shift_matrix(c, D, base=10000.0):
    """The matrix M with M @ P[t] = P[t + c] for all t.  D even → (D, D)."""
    ### BEGIN SOLUTION
    M = np.zeros((D, D))
    for column in range(0, D, 2):
        angle = c / base ** (column / D)
        M[column : column + 2, column : column + 2] = [
            [np.cos(angle), np.sin(angle)],
            [-np.sin(angle), np.cos(angle)],
        ]
    return M
    ### END SOLUTION


# %% test="shift_matrix" points=5
check("shift_matrix", shift_matrix)

# %% tags=["skip-grading"]
with until_written():
    needs("sinusoidal", "shift_matrix")
    M, P = shift_matrix(3, 8, base=100), sinusoidal(100, 8, base=100)
    error = np.abs(P[:-3] @ M.T - P[3:]).max()
    _, ax = plt.subplots(figsize=(4.8, 3.9))
    heatmap(M, list("01234567"), list("01234567"), ax=ax, numbers=".2f", cmap="PuOr", vmin=-1.3, vmax=1.3,
            aspect="auto", title="One matrix moves all positions on by 3", xlabel="entry of P[t]", ylabel="entry of P[t + 3]")
    plt.show()
    print(f"largest error over 97 positions: {error:.1e}")
    print(f"M Mᵀ differs from the identity by {np.abs(M @ M.T - np.eye(8)).max():.1e}")

# %% [markdown]
# One fixed matrix, valid at every place: a network that has to look "three words back" can hold it in its weights (whether it *learns* it, the
# last section tries). $M M^{\mathsf T}$ is the identity
# matrix, so $M$ is **orthogonal**: it turns, and neither stretches nor squeezes. That is what one lecture asks for when it says that M should be unitary.
#
# A consequence: the dot product of two positions knows only their distance, $P_t \cdot P_{t+c} = \sum_i \cos(\omega_i c)$, since $\sin^2 + \cos^2 = 1$ at each clock.

# %% tags=["skip-grading"]
with until_written():
    needs("sinusoidal")
    P, c = sinusoidal(400, 64), np.arange(-60, 61)
    for t, width, colour in [(70, 7, "#c3cad1"), (200, 3.5, ORANGE), (330, 1.2, BLUE)]:
        plt.plot(c, P[t + c] @ P[t], color=colour, lw=width, label=f"from place {t}")
    plt.title("How alike two places are depends on their distance only")
    plt.xlabel("distance c"), plt.ylabel("dot product"), plt.ylim(0, 34), plt.legend()
    plt.show()

# %% [markdown]
# The three curves lie on top of each other. Near places are alike, far ones less so on the whole (with ripples), in the same way everywhere. The curve is
# symmetric, too: by itself this product cannot tell *before* from *after*. With a matrix in between, such as $M_3$, it can. So the
# *table* meets all four wishes. It is unique for ever (π is irrational, so no hand comes back exactly), and well apart for the 2,000 places that we tried. What a *model* makes of it that has seen short sentences only is another question (the
# last section).
#
# > **A note on the lecture.** One lecture explains the relative positions by the period: sin(x + 2π) = sin(x). Period is not what does it
# > (with a whole period gone, two places would even be confused). What does it is the addition theorem, that is, the matrix $M_c$.

# %% [markdown]
# ## Turn instead of adding: RoPE
#
# In lab 07 words will be compared by dot products. If positions are *added*, with words $x$, $y$ and positions $p$, $p'$, that gives
#
# $$(x + p)\cdot(y + p') = x\cdot y + x\cdot p' + p\cdot y + p\cdot p'.$$
#
# Only the last term knows the distance and nothing else; the two in the middle mix meaning with place. In 2021 the authors of RoFormer had a better
# idea: do not add the position, **turn the word by it**. Cut the vector into pairs of numbers, take each pair for an arrow, and turn the arrow
# by as many steps of its clock as the word's position says. (In a model: the two vectors that are compared, lab 07's queries and
# keys, not the word's own row.) Two arrows that are turned by the same angle keep the angle between them. So if both words
# move on by three, nothing changes: the dot product depends on the *distance* of the words, with its sign (how far after or before). This is called **RoPE**, rotary position embedding, and most of today's
# large language models use it (some with slower clocks, to reach farther: Llama 3 has base = 500,000).
#
# An arrow $(a, b)$ that is turned (anticlockwise now, as is usual for arrows) by the angle $\varphi$ becomes
#
# $$(a\cos\varphi - b\sin\varphi,\;\; a\sin\varphi + b\cos\varphi).$$
#
# (The signs are the other way round than in question 3: its hands start at 12 and turn clockwise.)
#
# By hand: (1, 0) turned by a quarter, $\varphi = \pi/2$, is (0, 1); and (0, 1) becomes (−1, 0).

# %% [markdown]
# ### 4 · `rope` ●●○ (15 minutes, 5 points)
#
# `rope(x, positions, base=10000.0)` turns each vector by its position.
#
# * `x`: an array `(…, T, D)` of vectors, of whole or real numbers, with any axes (or none) before the last two; D is even.
# * `positions`: T numbers, a list or an array: the position of each of the T vectors. They need not be 0, 1, 2, …; negative ones
#   and fractions are allowed too.
# * It returns a new array of real numbers, of the shape of `x`, which stays as it is. In the vector at position *m*, the **neighbouring** entries
#   $x_{2i}$ and $x_{2i+1}$ form pair *i* and are turned by $\varphi = m\,\omega_i$, with the same $\omega_i = 1/\text{base}^{\,2i/D}$ as before.
#
# (Some libraries pair entry *i* with entry *i* + D/2 instead. It is the same idea with the columns in another order. Here neighbours are pairs, as in
# the paper.)

# %% question="rope"
def rope(x, positions, base=10000.0):
    """Rotary positions (Su et al., 2021).  x: (..., T, D), positions: (T,) → (..., T, D)."""
    ### BEGIN SOLUTION
    D = x.shape[-1]
    angles = np.outer(positions, 1 / base ** (np.arange(0, D, 2) / D))  # (T, D/2)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., 0::2], x[..., 1::2]  # (..., T, D/2)
    turned = np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1)  # (..., T, D/2, 2)
    return turned.reshape(x.shape)
    ### END SOLUTION


# %% test="rope" points=5
check("rope", rope)

# %% [markdown]
# First one pair of numbers. Two words, two arrows; the second stands two places after the first, once early, once later in the sentence:

# %% tags=["skip-grading"]
with until_written():
    needs("rope")
    fig, axes = plt.subplots(1, 2, figsize=(6.6, 3.2), sharey=True)
    arrows = np.array([[1.0, 0.0], [0.4, -0.8]])
    for ax, places in zip(axes, [(0, 2), (3, 5)]):
        turned = rope(arrows, places)  # (2, 2)
        for tip, place, word, colour in zip(turned, places, (1, 2), (BLUE, ORANGE)):
            ax.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": colour, "lw": 2.5})
            ax.text(*(1.5 * tip), f"word {word}\nat place {place}", ha="center", va="center", fontsize=9)
        ax.set_title(f"places {places[0]} and {places[1]}: dot product {turned[0] @ turned[1]:.3f}", fontsize=10.5, weight="normal")
        ax.set_aspect("equal"), ax.set_xlim(-2, 2), ax.set_ylim(-1.5, 1.5), ax.set_xlabel("entry 0")
    axes[0].set_ylabel("entry 1")
    fig.suptitle("Both turn, the angle between them stays, and so does the dot product", x=0.01, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# And now with sixteen numbers. Let two words stand at many pairs of places. How well do they fit, by the dot product? On the left positions are added, in the
# middle stands the last of the four terms alone, on the right the same two vectors are turned:

# %% tags=["skip-grading"]
with until_written():
    needs("sinusoidal", "rope")
    q, k = np.random.default_rng(4).normal(size=(2, 16))
    places, P = np.arange(24), sinusoidal(24, 16)
    added = (q + P) @ (k + P).T  # (24, 24)
    turned = rope(np.tile(q, (24, 1)), places) @ rope(np.tile(k, (24, 1)), places).T
    fig, axes = plt.subplots(1, 3, figsize=(12, 3.3))
    titles = ("Added: many colours a diagonal", "p · p′ alone: one colour a diagonal", "Turned: one colour a diagonal")
    for ax, scores, title in zip(axes, (added, P @ P.T, turned), titles):
        heatmap(scores, ax=ax, xlabel="place of word 2", ylabel="place of word 1", colorbar="dot product")
        ax.set_title(title, fontsize=10.5)
    plt.show()

# %% tags=["skip-grading"]
with until_written():
    needs("sinusoidal", "rope")
    for m, n in [(5, 2), (6, 3), (105, 102), (2, 5)]:
        score = rope(q[None], [m])[0] @ rope(k[None], [n])[0]
        print(f"places {m} and {n}: {score:.6f}")
    before, after = np.linalg.norm(q), np.linalg.norm(rope(q[None], [7]))
    print(f"length before and after: {before:.6f}, {after:.6f}")

# %% [markdown]
# The first three have the same distance, $m - n = 3$, and the same score, even a hundred words later. The fourth has the words the other way round, $m - n = -3$, and another score:
# before is not after. The length of the vector stays as it is, so a word is as loud at place 105 as at place 5; only its direction tells the place.

# %% [markdown]
# ### 5 · In your own words (6 minutes, 3 points)
#
# A model was trained on sentences of up to 50 words, places 0 to 49. Now it meets one of 60. What does it see at place 55 that it has not seen in
# training, and can it go on, if positions are given (a) as the plain number, (b) as the fraction *t*/(T − 1), (c) in binary with the same 6 bits as in training, (d) as sinusoids? One or two sentences for each, in the cell below. A person reads and grades this answer.

# %% [markdown] written="sixty_words" points=3
# ### BEGIN SOLUTION
# (a) The number 55 is larger than any it has seen, and it keeps growing with the sentence, so it lies outside everything that was learned. (b) The
# value is an ordinary number between 0 and 1, but it means something else: one step is now 1/59 instead of at least 1/49, so "the next word" and
# "three words back" look different than in training. (c) 55 still fits into six bits, 110111: each bit is known by itself, but this combination is new; and from place
# 64 on there is no code at all. (d) The values stay between −1 and 1, neighbours are exactly as far apart as always, and "three words back" is the same matrix
# $M_{-3}$: a model that has learned this matrix goes on as before. But it need not have learned just this one. Together the clocks show angles that it has not met, so it may do much worse.
# ### END SOLUTION

# %% [markdown]
# ## Optional · How far do positions reach? (10 minutes, no points)
#
# Let us measure it. The task: *point three words back*. As in lab 03, place *t* gives every place *s* up to itself a score, a softmax makes weights of the scores, and the price is $-\ln$ of the
# weight at $t-3$. The score may be any weighted sum of what positions offer: products of an entry of $P_t$ and an entry of $P_s$. The weights of that sum are learned on sentences
# of **20 words**, and tried on 60. Two more ways to give positions join the race: a **learned** table with a row of its own for every place, as in BERT and GPT-2; and **ALiBi** (2021), which only
# takes something off the score for every word of distance.

# %% tags=["skip-grading"]
LONG, SHORT, BACK = 60, 20, 3
every_place = np.arange(LONG)


def products(P):
    """All products of an entry of P[t] (or 1) with one of P[s] (or 1).  (T, D) → (T, T, (D + 1)²)"""
    P = np.column_stack([P, np.ones(len(P))])
    return np.einsum("ti,sj->tsij", P, P).reshape(len(P), len(P), -1)


def rope_products(D):
    """Dot products of turned pairs of numbers, one clock at a time.  → (T, T, D)"""
    turned = rope(np.broadcast_to(np.eye(D)[:, None], (D, LONG, D)).copy(), every_place)  # (D, T, D)
    return np.stack([turned[i - i % 2] @ turned[i].T for i in range(D)], axis=-1)


def weights_of(scores):
    """A softmax over all places up to one's own.  (T, T) → (T, T)"""
    scores = np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def learn(features, steps=600, rate=0.05):
    """What to multiply the features (SHORT, SHORT, F) with, so that each place points three back.  → (F,)"""
    c, rows = np.zeros(features.shape[-1]), np.arange(BACK, SHORT)
    mean = square = 0 * c
    for step in range(1, steps + 1):
        error = weights_of(features @ c)
        error[rows, rows - BACK] -= 1  # what was said, minus what was right
        error[:BACK] = 0
        gradient = np.tensordot(error, features, 2) / len(rows) + 1e-4 * c  # a little weight decay (lab 02)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        c -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)  # Adam: lab 10
    return c


def pointing(scores):
    """The weight that each place gives to the one three back.  (T, T) → (T - 3,)"""
    return weights_of(scores)[np.arange(BACK, len(scores)), np.arange(len(scores) - BACK)]

# %% tags=["skip-grading"]
with until_written():
    needs("binary_code", "sinusoidal", "shift_matrix", "rope")
    offers = {"number t": products(every_place[:, None] / SHORT), "binary, 6 bits": products(binary_code(every_place, 6)),
              "sinusoids": products(sinusoidal(LONG, 16)), "RoPE": rope_products(16),
              "ALiBi": (every_place[None] - every_place[:, None])[..., None].astype(float)}
    reach = {name: pointing(F @ learn(F[:SHORT, :SHORT])) for name, F in offers.items()}
    fraction = learn(products(np.linspace(0, 1, SHORT)[:, None]))
    reach["fraction"] = pointing(products(np.linspace(0, 1, LONG)[:, None]) @ fraction)
    known = np.zeros((LONG, LONG))  # a row a place: any score can be learned, beyond place 20 none is
    known[every_place[:SHORT], np.maximum(every_place[:SHORT] - BACK, 0)] = 8
    reach["learned table, filled in"] = pointing(known)
    P = sinusoidal(LONG, 16)
    reach["M₋₃ by hand"] = pointing(20 * P @ shift_matrix(-BACK, 16).T @ P.T)

# %% tags=["skip-grading"]
with until_written():
    needs("binary_code", "sinusoidal", "shift_matrix", "rope")
    order = ["number t", "fraction", "binary, 6 bits", "learned table, filled in",
             "sinusoids", "M₋₃ by hand", "RoPE", "ALiBi"]
    fig, axes = plt.subplots(2, 4, figsize=(10.5, 4.2), sharex=True, sharey=True)
    for ax, name in zip(axes.flat, order):
        inside, beyond = reach[name][: SHORT - BACK].mean(), reach[name][SHORT - BACK :].mean()
        ax.axvspan(0, SHORT - 1, color=GREEN, alpha=0.2, lw=0)
        ax.plot(every_place[BACK:], 1 / (every_place[BACK:] + 1), ":", color=ORANGE)  # the same weight for all so far
        ax.plot(every_place[BACK:], reach[name], color=INK if "in" in name.split() or "hand" in name else BLUE, lw=1.5)
        ax.set_title(f"{name}: {inside:.2f} → {beyond:.2f}", fontsize=9.5)
    axes[0, 0].set(ylim=(0, 1.05), ylabel="weight three back"), axes[1, 0].set_ylabel("weight three back")
    for ax in axes[1]:
        ax.set_xlabel("place t (green: the first 20)")
    fig.suptitle("Trained on 20 places, tried on 60: of the trained ones that learn the task, RoPE alone goes on", x=0.01, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# The titles say the mean weight on the right word, inside the 20 places → beyond them. Blue was trained, black was filled in by hand, dotted is guessing.
#
# * One **number** or **fraction** cannot point at all (their score is a straight line in $s$, and that has no peak in the middle); **bits** do it half; a **learned table** perfectly, and beyond its last trained row it knows nothing. (We filled in its 20 rows as training would in the end.)
# * **Sinusoids** are the surprise. A perfect solution exists, the matrix $M_{-3}$, and it reaches as far as you like. But the score has 289 numbers to learn, 20 places allow many other solutions, and learning took one of those (3,000 steps instead of 600 reach 0.49). *No end* in
#   the table does not mean no end in the model.
# * **RoPE** has 16 numbers, and nothing else to learn but distances, so what it learned at one place holds at every place, for the distances that it has met. (Distances beyond 19 it has never seen. With D = 16 none up to 59 happens to score as high as a 3; 380 does. With
#   D = 8 it fails from place 47 on: the first clock is back after 44 steps, so to this clock 47 words back look like three. Large models with RoPE get worse beyond the trained length, too.)
# * **ALiBi** cannot point to the third word: it can only prefer near ones to far ones (or far to near). That, however, it does at place 59 as at place 9. It was made for long texts, not for this task. (In the paper its slopes are fixed, one for each head; here the slope is learned.)
#
# And without any positions? A model that looks backwards only can learn to count places by itself (Haviv and others, 2022).

# %% [markdown]
# ### Optional · Break it to believe it ●○○ (5 minutes, no points)
#
# Five impostors of `rope` wait behind the card below. One of them takes 0, 1, 2, … for the positions, whatever it is given. All five pass a test with these four arrows:

# %% locked="weak_input"
weak_input = (np.array([[1.0, 0], [0, 1], [1, 1], [2, -1]]), [0, 1, 2, 3])

# %% [markdown]
# Let `counterexample()` return an input `(x, positions)` for which they go wrong. Your own function says what is right. The text of question 4 says what an input may be like; which of that does the weak
# test never try?

# %% question="counterexample" points=0
def counterexample():
    """An input that gives wrong rotations away: (x, positions)."""
    ### BEGIN SOLUTION
    return np.random.default_rng(0).normal(size=(3, 6)), [4.5, 7, -2]
    ### END SOLUTION


# %% tags=["skip-grading"]
with until_written():
    needs("rope")
    break_it(counterexample, rope)

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# ## What you can do now
#
# * give every position a vector: unique, bounded, without an end, and with the same step everywhere;
# * move positions by one fixed, orthogonal matrix, and see that their dot product knows only the distance;
# * turn vectors by their positions, so that comparing two words takes their distance into account.
#
# ## What is still missing
#
# (The translator of lab 12 adds the sinusoids, as the first transformer did: its sentences are short.)
#
# A word now says what it means and where it stands. But each still stands there alone: no word knows of the others. In lab 03 a table of all pairs of
# words said who should listen to whom. *How can the words find out themselves?* That is **lab 07**, and it is the heart of the course.

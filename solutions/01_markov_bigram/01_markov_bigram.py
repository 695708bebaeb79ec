# ---
# jupyter:
#   course:
#     data: [names.txt, 01_markov_bigram]
#     minutes: 100
# ---

# %% [markdown]
# # 01 · Markov chains: what comes next?
#
# **What you already have.** In lab 00 words became one-hot vectors, and a one-hot vector times a matrix picked out
# a row. But the table of scores, which says what comes next, was filled in by hand.
#
# **The question of this lab.** Given the word in front of you, what comes next? We answer it in the plainest way
# there is: look at what came next before, and count. The whole answer is a table. You will read it, draw it, let it
# invent names, and put a number on how surprised it is. That number stays with us up to the translator.
#
# When you are through you can
#
# * turn counts into a Markov chain, of first and of second order,
# * generate text from it, letter by letter,
# * measure any model of text by its average negative log-likelihood,
# * learn the same table, step by step, without counting.
#
# *100 minutes: 75 for the six functions, 8 for the two answers in words, 17 to read and look.*

# %% locked="setup"
import matplotlib.pyplot as plt
import numpy as np
from coursekit import break_it, check, mine, progress, start, track
from coursekit.figures.markov_chain import draw_chain
from coursekit.figures import BLUE, ORANGE, heatmap
from coursekit.data.names import makemore_counts, makemore_names, names
from coursekit.notebook.until_written import needs, until_written
from matplotlib.colors import PowerNorm

start("01_markov_bigram")

# %% [markdown]
# ## Part A · Three commands
#
# A small computer understands three commands. (They and the two reports of Part B come from Brandon Rohrer's
# *Transformers from Scratch*, 2021.) Half of all requests are for photos, three in ten for files, two in ten for directories:
#
# | command | weight |
# |---|---|
# | show me my directories please | 0.2 |
# | show me my files please | 0.3 |
# | show me my photos please | 0.5 |
#
# After *show* comes *me*, always. After *me* comes *my*, always. Only after *my* is there anything to guess. A table
# can say all that: **one row for the current word, one column for the next**, and in each cell a probability,
#
# $$P_{ij} = P(\text{next word is } j \mid \text{current word is } i).$$
#
# A model that looks at the current word and at nothing before it is a **Markov chain of first order**. To build the
# table we count, and then turn counts into probabilities. We take the second step first, because it is the smaller.
# (A *weight*, such as 0.2 above, is a count that need not be whole.)

# %% [markdown]
# ### 1 · `normalise_rows` ●○○ (5 minutes, 3 points)
#
# Suppose you have seen *my photos* five times, *my files* three times and *my directories* twice. Ten in all, so
# the probabilities are 5/10, 3/10 and 2/10: **each row is divided by its own sum**.
#
# $$P_{ij} = \frac{N_{ij}}{\sum_k N_{ik}}$$
#
# One row needs care. Nothing ever follows *please*, so its row holds only zeros, and 0/0 is no number. This course
# decides: **a row that was never seen stays zero.** The model then says nothing at all about it, which is honest.
# Lab 02 will do better.
#
# `normalise_rows(N)`: `N` is an array `(R, V)` of counts (whole numbers or not, none negative) → a new array
# `(R, V)` of floats. `N` itself stays as it is.

# %% question="normalise_rows"
def normalise_rows(N):
    """Turn counts into probabilities.  N: (R, V) counts → (R, V); a row without counts stays zero."""
    ### BEGIN SOLUTION
    total = N.sum(axis=1, keepdims=True)  # (R, 1)
    return np.divide(N, total, out=np.zeros(N.shape), where=total > 0)
    ### END SOLUTION


# %% test="normalise_rows" points=3
check("normalise_rows", normalise_rows)

# %% [markdown]
# > **A note on the lectures.** One says that the rows of a transition matrix always add up to one. In textbooks they do, because something is put after
# > *please*: an end token, say, as in Part C. Here nothing is, so its row adds up to zero. Another divides by `np.sum(N + 0.0001)`, adding the small number
# > *only below the line* of each cell. That avoids 0/0; but each row of 28 then adds up to a little less than one (by
# > 28 · 0.0001 = 0.0028 for a row seen once). We leave the empty row empty and keep the others exact.

# %% [markdown]
# ### 2 · `transition_matrix` ●●○ (15 minutes, 4 points)
#
# Now the counting. Walk through each sentence and look at two neighbours at a time:
#
# *show me my photos please* → (show, me) (me, my) (my, photos) (photos, please)
#
# Each such pair adds **the sentence's weight** to its cell of the table. Then the rows are normalised. Pairs never
# reach from one sentence into the next: *please* is not followed by *show*.
#
# `transition_matrix(sentences, weights)`
#
# * `sentences`: a list of strings, lower case without punctuation; `.split()` gives the words.
# * `weights`: one positive number a sentence. They need not add up to one: 20, 30, 50 mean the same as 0.2, 0.3, 0.5.
#   A sentence may stand in the list twice; each time counts with its own weight.
# * returns **two** things, `vocabulary, P`: the list of all distinct words in alphabetical order (a sentence of one word has one, too), and an array
#   `(V, V)`, where `P[i, j]` is the probability that `vocabulary[j]` follows `vocabulary[i]`. The row of a word that
#   nothing ever follows is zero.

# %% question="transition_matrix"
def transition_matrix(sentences, weights):
    """First-order Markov chain: the sorted vocabulary, and P[i, j] = P(word j follows word i), (V, V)."""
    ### BEGIN SOLUTION
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    row = {word: i for i, word in enumerate(vocabulary)}
    N = np.zeros((len(vocabulary), len(vocabulary)))
    for sentence, weight in zip(sentences, weights):
        words = sentence.split()
        for current, following in zip(words, words[1:]):
            N[row[current], row[following]] += weight
    return vocabulary, normalise_rows(N)
    ### END SOLUTION


# %% test="transition_matrix" points=4
check("transition_matrix", transition_matrix)

# %% tags=["skip-grading"]
commands = ["show me my directories please", "show me my files please", "show me my photos please"]
with until_written():
    needs("transition_matrix")
    vocabulary, chain = transition_matrix(commands, [0.2, 0.3, 0.5])
    ax = heatmap(chain, vocabulary, vocabulary, numbers=".1g", xlabel="next word", ylabel="current word")
    ax.set_title("Only the row of “my” has to guess")

# %% [markdown]
# Read the table row by row. Six of the seven rows are certain or empty; *my* is the only place where the chain
# branches. Do you remember the one-hot vector of lab 00? It asks this table a question: *what follows “my”?*

# %% tags=["skip-grading"]
with until_written():
    needs("transition_matrix")
    my = np.eye(len(vocabulary))[list(vocabulary).index("my")]  # a one-hot vector, (7,)
    answer = my @ chain  # one-hot times matrix = that row
    for word, probability in zip(vocabulary, answer):
        print(f"my → {word:12s} {probability:.1f}")

# %% [markdown]
# ## Part B · Who ran?
#
# Another computer hears only two sentences. The first makes up 40 % of the requests, the second 60 %:
#
# * check whether the **battery** ran down please
# * check whether the **program** ran please
#
# A person who hears *battery ran* knows what comes: *down*. Does the chain? (A dark arrow is certain; an orange one bears its
# probability.)

# %% tags=["skip-grading"]
reports = ["check whether the battery ran down please", "check whether the program ran please"]
places = {"check": (0, 0), "whether": (1.3, 0), "the": (2.6, 0), "battery": (3.7, 0.7), "program": (3.7, -0.7),
          "ran": (4.8, 0), "down": (5.9, 0.7), "please": (7, -0.3)}
with until_written():
    needs("transition_matrix")
    spoken, first = transition_matrix(reports, [0.4, 0.6])
    figure, ax = plt.subplots(figsize=(8.4, 2.9))
    draw_chain(spoken, first, places, ax=ax, title="At “ran” the chain has forgotten who ran")

# %% [markdown]
# The chain branches twice, after *the* and after *ran*. The first branch is fair: nobody can know who is meant. The
# second is not: *battery* or *program* was said one word ago, and the chain has already forgotten it.
#
# ### 3 · `second_order` ●●○ (15 minutes, 4 points)
#
# The remedy is plain: let a row stand for the last **two** words. A chain of **second order** has a row for each pair
#
# $$P_{(a,b),\,c} = P(\text{next word is } c \mid \text{the last two words are } a, b).$$
#
# *check whether the program ran please* → (check, whether → the) (whether, the → program) (the, program → ran)
# (program, ran → please)
#
# With $V$ words there are $V^2$ pairs. Most of them never occur, so we keep only the rows that are needed.
#
# `second_order(sentences, weights)`: same arguments as before; returns **three** things, `contexts, vocabulary, P`:
#
# * `contexts`: a sorted list of all pairs `(a, b)` of neighbours that some word follows at least once. In a pair the
#   earlier word comes first, and each pair stands in the list once (`sorted` does the right thing with tuples).
# * `vocabulary`: all distinct words, sorted, as before.
# * `P`: an array `(C, V)`, a row for each context. Every row adds up to one, because a pair that nothing follows,
#   such as *(down, please)*, gets no row at all.
#
# A sentence of one or two words has no context, but its words belong to the vocabulary. (If no sentence is longer,
# `contexts` is empty and `P` has the shape `(0, V)`.)

# %% question="second_order"
def second_order(sentences, weights):
    """Second-order Markov chain: contexts (pairs, sorted), vocabulary (sorted) and P, (C, V)."""
    ### BEGIN SOLUTION
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    column = {word: j for j, word in enumerate(vocabulary)}
    counts = {}  # (word, word) -> (V,) weights of the word that follows
    for sentence, weight in zip(sentences, weights):
        words = sentence.split()
        for a, b, following in zip(words, words[1:], words[2:]):
            counts.setdefault((a, b), np.zeros(len(vocabulary)))[column[following]] += weight
    contexts = sorted(counts)
    N = np.array([counts[context] for context in contexts]).reshape(len(contexts), len(vocabulary))
    return contexts, vocabulary, normalise_rows(N)
    ### END SOLUTION


# %% test="second_order" points=4
check("second_order", second_order)

# %% tags=["skip-grading"]
with until_written():
    needs("transition_matrix", "second_order")
    contexts, spoken, second = second_order(reports, [0.4, 0.6])
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.6))
    heatmap(first, spoken, spoken, ax=axes[0], numbers=".1g", vmin=0, vmax=1)
    axes[0].set(title="One word of memory: “the” and “ran” guess", xlabel="next word", ylabel="current word")
    heatmap(second, [" ".join(pair) for pair in contexts], spoken, ax=axes[1], numbers=".1g", vmin=0, vmax=1)
    axes[1].set(title="Two words: only “whether the” guesses", xlabel="next word", ylabel="last two words")

# %% tags=["skip-grading"]
with until_written():
    needs("transition_matrix", "second_order")
    for name, table in (("first order", first), ("second order", second)):
        fractional = ((table > 0) & (table < 1)).any(axis=1)
        print(f"{name}: {fractional.sum()} of {len(table)} rows have to guess")

# %% [markdown]
# More memory, fewer fractions, more confidence. Then why not look back ten words? Because the table grows: with a
# vocabulary of 50,000 words the first order has up to 50,000 rows, the second up to 2.5 billion. Only the pairs that
# occur get one, but the longer the memory, the more rows share the same text, and each wants to be seen often enough to
# be trusted.

# %% [markdown]
# ### In your own words (a) · what the chain forgets (4 minutes, 2 points)
#
# Given that it begins with *check*: what probability does the *first-order* chain of the two reports give to the
# sentence *check whether the program ran down please*, which nobody ever says? Show the steps that multiply to it.
# Then say why the second-order chain gives it zero, and what that better judgement costs. Three or four sentences.

# %% [markdown] written="why_forget" points=2
# ### BEGIN SOLUTION
# Every step is certain but two: *the → program* has probability 0.6 and *ran → down* 0.4, so the sentence gets
# 0.6 · 0.4 = 0.24. The first order allows it because at *ran* it no longer knows which subject came before. The
# second order has the row *(program, ran)*, which holds only *please*, so *program ran down* gets zero. The price is
# the table: a row for each pair of words, up to V² instead of V, and each row is seen more rarely, so its
# probabilities rest on fewer examples.
# ### END SOLUTION

# %% [markdown]
# ## Part C · A machine that invents names
#
# The same idea works on letters, and there it gets lively: with only 26 of them most pairs are seen, and often. (Markov
# counted vowels and consonants so in 1913, by hand, in 20,000 letters of *Eugene Onegin*; Shannon let such tables write in 1948.) Our
# examples are the 29,910 different first names that were given to at least five girls or at least five boys in the
# United States in 2017 (published by the Social Security Administration), the most frequent first.

# %% tags=["skip-grading"]
words = names()
print(f"{len(words):,} names:", ", ".join(words[:12]), "…")
print("the end of the list:", ", ".join(words[-6:]))

# %% [markdown]
# A name also tells which letters like to *begin* and which like to *end*. To count that too, we put an invisible
# token before each name and another after it: `<S>` for start, `<E>` for end. So *ava* becomes
#
# `<S>` a v a `<E>`
#
# and the alphabet has 28 tokens. (So a lecture calls them. From lab 04 on they are called `<bos>` and `<eos>`, *beginning*
# and *end of sequence*, as in most programs.) Every 28×28 table of this lab keeps them in one order: `ALPHABET` is the list
# `["<S>", "a", …, "z", "<E>"]`, and `INDEX` says where a token stands in it.

# %% locked="alphabet"
from coursekit.data.names import ALPHABET, INDEX

print(len(ALPHABET), "tokens:", " ".join(ALPHABET))
print("INDEX:", {token: INDEX[token] for token in ("<S>", "a", "b", "z", "<E>")})

# %% [markdown]
# ### 4 · `bigram_counts` ●○○ (10 minutes, 3 points)
#
# A **bigram** is a pair of neighbours. *ava* has four of them: (`<S>`, a), (a, v), (v, a), (a, `<E>`). A name of
# $n$ letters has $n+1$.
#
# `bigram_counts(words)`: a list of names (lower case, a to z) → an array `(28, 28)`, where `N[i, j]` says how often
# token `ALPHABET[j]` directly follows token `ALPHABET[i]`. A name that stands in the list twice counts twice,
# and an empty list has a table of zeros.
# Nothing follows `<E>` and nothing comes before `<S>`, so that row and that column stay zero.

# %% question="bigram_counts"
def bigram_counts(words):
    """How often each token follows each other one.  list of names → (28, 28), row: current, column: next."""
    ### BEGIN SOLUTION
    N = np.zeros((len(ALPHABET), len(ALPHABET)), dtype=int)
    for word in words:
        tokens = ["<S>", *word, "<E>"]
        for current, following in zip(tokens, tokens[1:]):
            N[INDEX[current], INDEX[following]] += 1
    return N
    ### END SOLUTION


# %% test="bigram_counts" points=3
check("bigram_counts", bigram_counts)

# %% tags=["skip-grading"]
with until_written():
    needs("normalise_rows", "bigram_counts")
    N = bigram_counts(words)
    P = normalise_rows(N)
    figure, ax = plt.subplots(figsize=(7.6, 6.6))
    heatmap(P, ALPHABET, ALPHABET, ax=ax, colorbar="probability of the next token", norm=PowerNorm(0.5))
    ax.set(title="After q comes u, three times in four", xlabel="next token", ylabel="current token")
    plt.setp(ax.get_xticklabels()[::27], rotation=90)  # <S> and <E>, too wide for a column

# %% [markdown]
# Take a minute with this picture. Bright columns on the left are *a*, *e* and *i*: vowels like to follow consonants. In the column
# on the right, `<E>`, *n* and *h* are bright: after them the name is over about one time in three. (More names end in *a* all the
# same, since *a* is far more frequent.) And the row of *q* has a single bright cell: *u*.
# (The colours are stretched a little, so that small probabilities show.)

# %% [markdown]
# ### 5 · `sample_name` ●●○ (15 minutes, 3 points)
#
# A table of probabilities can be *run*. Start at `<S>`. Look up its row, and **draw** the next token with those
# probabilities. Move to the token you drew, look up *its* row, and draw again. Stop when you draw `<E>`.
#
# `sample_name(P, rng)`: `P` is a `(28, 28)` table, `rng` a NumPy random generator → the name as a string, without
# `<S>` at the front and without `<E>` at the end (`""` when the very first draw is `<E>`). All randomness comes from `rng`, so that the same generator state
# gives the same name: `rng.choice(28, p=row)`, for one, draws a number from 0 to 27 with the probabilities in `row`.
#
# Every row of `P` that can be reached adds up to one; an `<S>` that a table allows in the middle is written like any other token.
#
# *By hand.* If `<S>` always leads to *a*, *a* to *b* and *b* to `<E>`, every draw gives `"ab"`. Draw, do not take the largest: whoever always takes the most likely letter writes the same name for ever.

# %% question="sample_name"
def sample_name(P, rng):
    """Draw one name from the chain.  P: (28, 28) probabilities, rng: numpy Generator → str."""
    ### BEGIN SOLUTION
    letters, current = [], INDEX["<S>"]
    while True:
        current = rng.choice(len(ALPHABET), p=P[current])
        if current == INDEX["<E>"]:
            return "".join(letters)
        letters.append(ALPHABET[current])
    ### END SOLUTION


# %% test="sample_name" points=3
check("sample_name", sample_name)

# %% [markdown]
# Now let it speak. On the left your table; on the right a table that knows nothing: all 28 tokens equally likely,
# always. (It even writes `<S>` in the middle of a name, if you join the tokens as they stand in `ALPHABET`.)

# %% tags=["skip-grading"]
with until_written():
    needs("normalise_rows", "bigram_counts", "sample_name")
    rng, known = np.random.default_rng(27), set(words)
    invented = [sample_name(P, rng) for _ in range(12)]
    noise = [sample_name(np.full((28, 28), 1 / 28), rng) for _ in range(12)]
    print(f"{'from the counts':26s}from a table that knows nothing\n")
    for name, blind in zip(invented, noise):
        remark = "  (a real one)" if name in known else ""
        print(f"{name + remark:26s}{blind[:48]}{'…' if len(blind) > 48 else ''}")

# %% [markdown]
# Some are real names, some could be, some are gibberish such as a single letter. The chain knows which letters go
# together, but not how long a name already is, nor what it began with.

# %% [markdown]
# ## Part D · One number for how much the model knows
#
# Left is better than right: you can *see* it. Let us measure it. How much doubt is in one row of the table? The
# **entropy** of the row says it, in the unit *nat*:
#
# $$S_i = -\sum_j P_{ij} \ln P_{ij}$$
#
# A certain row has 0 (we take $0 \ln 0 = 0$). A row that spreads evenly over all 28 tokens has
# $\ln 28 = 3.33$, so 28 such rows have $28 \ln 28 = 93.30$ together. The lecture compares that with the table from
# names.
#
# > **A note on the lecture.** The row of `<E>` is empty, because nothing follows the end. The formula gives it 0 nats, as if it were
# > *certain*, while the table that knows nothing pays $\ln 28$ for that row. And in every row that table allows an `<S>`, which never comes next. Only 27 rows are
# > ever used, and in each only 27 tokens can come next (26 letters or the end), so the fair comparison is with
# > $27 \ln 27 = 88.99$.

# %% locked="row_entropies"
def row_entropies(P):
    """Entropy of each row in nats, 0 ln 0 taken as 0.  P: (R, V) → (R,)."""
    logs = np.log(P, out=np.zeros(P.shape), where=P > 0)
    return -(P * logs).sum(axis=1)


# %% tags=["skip-grading"]
with until_written():
    needs("normalise_rows", "bigram_counts")
    entropies = row_entropies(P)[:27]  # without the row of <E>, which nobody ever uses
    order = np.argsort(entropies)
    figure, ax = plt.subplots(figsize=(8.4, 3.4))
    ax.bar(range(27), entropies[order], color=BLUE)
    ax.axhline(np.log(27), color=ORANGE, label="a table that knows nothing: ln 27")
    ax.set_xticks(range(27), [ALPHABET[i] for i in order])
    ax.set(xlabel="current token", ylabel="entropy of its row (nats)", ylim=(0, 3.9))
    ax.set_title(f"Counting leaves {entropies.sum():.2f} nats of doubt in 27 rows, of {27 * np.log(27):.2f}")
    ax.legend(loc="upper left")

# %% [markdown]
# The lectures count another list: the 32,033 names of Karpathy's *makemore* (the year 2018, where a name given to
# girls and to boys stands twice). The list itself is an optional download, but the course ships its **table of
# counts**, so you can work the lecture's number right here.

# %% tags=["skip-grading"]
with until_written():
    needs("normalise_rows", "bigram_counts")
    makemore_P = normalise_rows(makemore_counts())
    print(f"knowing nothing, 28 ln 28   {28 * np.log(28):.2f}   (27 rows of 27: {27 * np.log(27):.2f})")
    print(f"makemore's names            {row_entropies(makemore_P).sum():.2f}   (the lecture's number)")
    print(f"the built-in names          {row_entropies(P).sum():.2f}")

# %% [markdown]
# The sum over rows treats *q* and *a* alike, though *q* is rare. And it looks at the table only, not at any name.
# The measure that the whole field uses asks instead: **how surprised is the model by the names themselves?**
#
# ### 6 · `average_nll` ●●○ (15 minutes, 3 points)
#
# The probability of a name is a product, one factor a step:
#
# $$P(\textit{ava}) = P(\text{a} \mid \langle S\rangle) \cdot P(\text{v} \mid \text{a}) \cdot P(\text{a} \mid \text{v}) \cdot P(\langle E\rangle \mid \text{a})$$
#
# Some hundreds of such factors make a number too small for a 64-bit number (lab 00), so we add logarithms instead. With a
# minus sign, so that a surprise counts upwards; and divided by **the number of steps**, so that long lists and short
# ones compare. That is the average **negative log-likelihood**, NLL, in nats a token:
#
# $$\mathrm{NLL} = -\frac{1}{\text{steps}} \sum_{\text{steps } i \to j} \ln P_{ij}$$
#
# *By hand.* Let $P(\text{a} \mid \langle S\rangle) = \tfrac12$ and $P(\langle E\rangle \mid \text{a}) = \tfrac14$. The list `["a"]` has two
# steps, so its NLL is $(\ln 2 + \ln 4)/2 = 1.04$.
#
# `average_nll(P, words)`: a `(28, 28)` table and a list of names (at least one) → one float. The end counts as a
# step: a name of $n$ letters has $n+1$ steps. The average is over **all steps of all names**, not over names.
# An empty name `""` has one step, `<S>` to `<E>`. If a name takes a step that the table holds impossible ($P_{ij} = 0$), the
# result is `np.inf`: infinite surprise.
# (NumPy's warning about `log(0)` does no harm.)

# %% question="average_nll"
def average_nll(P, words):
    """Average negative log-likelihood a step, in nats.  P: (28, 28), words: list of names → float."""
    ### BEGIN SOLUTION
    steps = [
        (INDEX[current], INDEX[following])
        for word in words
        for current, following in zip(["<S>", *word], [*word, "<E>"])
    ]
    rows, columns = np.array(steps).T
    with np.errstate(divide="ignore"):
        return float(-np.log(P[rows, columns]).mean())
    ### END SOLUTION


# %% test="average_nll" points=3
check("average_nll", average_nll)

# %% tags=["skip-grading"]
with until_written():
    needs("normalise_rows", "bigram_counts", "average_nll")
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.3), sharey=True)
    for ax, name in zip(axes, ("anna", "quinn", "zgrop")):
        costs_of_steps = {  # "a→n" → nats
            f"{a}→{b}": -np.log(P[INDEX[a], INDEX[b]]) for a, b in zip(["<S>", *name], [*name, "<E>"])
        }
        ax.bar(range(len(costs_of_steps)), list(costs_of_steps.values()), color=BLUE)
        ax.axhline(np.log(27), color=ORANGE, label="blind guessing: ln 27")
        ax.set_xticks(range(len(costs_of_steps)), list(costs_of_steps), rotation=45, fontsize=9)
        ax.set(title=f"{name}: {average_nll(P, [name]):.2f} nats a step", xlabel="step", ylim=(0, 8.5))
        ax.title.set_weight("normal")
    axes[0].set(ylabel="surprise −ln P (nats)")
    axes[0].legend(loc="upper left")
    figure.suptitle("Gibberish costs more a step than these two names", x=0.01, ha="left", weight="bold")

# %% [markdown]
# Each bar is one step's surprise. Above the line the model does worse than blind guessing among 27 (26 letters or
# the end); below it knows something. Now all the names at once:

# %% tags=["skip-grading"]
with until_written():
    needs("normalise_rows", "bigram_counts", "average_nll")
    cost = average_nll(P, words)
    print(f"the built-in names: {cost:.5f} nats a step (guessing among 27: {np.log(27):.3f})")
    print(f"as if each step were a fair choice among {np.exp(cost):.1f} tokens instead of 27")
    share = N.sum(axis=1) / N.sum()  # of all steps, the share that starts in each row
    print(f"the rows' entropies, averaged with these shares: {share @ row_entropies(P):.5f}")

# %% [markdown]
# $e^{\mathrm{NLL}}$ has a name: it is the **perplexity**, which many papers report instead of the NLL. Blind guessing
# among 27 has a perplexity of 27, certainty has 1. And the last line joins the two measures: on the names that it was
# counted from, a table's NLL **is** the entropy of its rows, each weighed by its use.
#
# And with **two** letters of memory? Your `second_order` takes names as well, each written as a sentence of letters, with two dots before and one
# after. (To be quick, here on the 10,000 most frequent names.)

# %% tags=["skip-grading"]
with until_written():
    needs("normalise_rows", "second_order", "bigram_counts", "average_nll")
    frequent = words[:10_000]
    contexts, letters, longer = second_order([" ".join(f"..{name}.") for name in frequent], np.ones(len(frequent)))
    row, column = {tuple(pair): i for i, pair in enumerate(contexts)}, {token: j for j, token in enumerate(letters)}
    costs = [-np.log(longer[row[a, b], column[c]]) for name in frequent
             for a, b, c in zip(f"..{name}.", f".{name}.", f"{name}.")]
    print(f"one letter of memory:  {average_nll(normalise_rows(bigram_counts(frequent)), frequent):.3f} nats a step")
    print(f"two letters of memory: {np.mean(costs):.3f} nats a step, in {len(contexts)} rows")
    rng, invented = np.random.default_rng(5), []
    for _ in range(10):
        name = ".."
        while name == ".." or name[-1] != ".":
            name += rng.choice(letters, p=longer[row[name[-2], name[-1]]])
        invented.append(name.strip("."))
    print("it invents:", ", ".join(invented))

# %% [markdown]
# Every three letters in a row now come from a real name, and the number falls. But both numbers are measured on the very names that were counted, and the longer memory has more rows to
# learn them by heart. What it is worth on *new* names is lab 02's question.
#
# Back to one letter of memory. Among all 28×28 tables of probabilities none has a lower NLL on these very names than *the one from counting*: counting and dividing **is** maximum
# likelihood. (Why: in one row the names cost $-\sum_j N_j \ln P_j$. Under the condition that the $P_j$ add up to one, the best place is where the
# $N_j / P_j$ of all cells that occur are equal, so $P_j$ is proportional to $N_j$.) You can try to beat it: move a little probability from one cell to another in the same row,
# and the number rises, if only by 0.002 here (the 2,000 most frequent names, with their own table; the vertical axis is cut).

# %% tags=["skip-grading"]
with until_written():
    needs("normalise_rows", "bigram_counts", "average_nll")
    sample = words[:2000]
    table, shifts, costs = normalise_rows(bigram_counts(sample)), np.linspace(-0.05, 0.05, 21), []
    for shift in shifts:  # from "a → <E>" to "a → n"
        other = table.copy()
        other[INDEX["a"], INDEX["n"]] += shift
        other[INDEX["a"], INDEX["<E>"]] -= shift
        costs.append(average_nll(other, sample))
    figure, ax = plt.subplots(figsize=(6.4, 3.2))
    ax.plot(shifts, costs)
    ax.plot([0], [average_nll(table, sample)], "o", color=ORANGE, label="the table from counting")
    ax.set(xlabel="probability moved from a→<E> to a→n", ylabel="NLL (nats a step)")
    ax.set_title("Move probability from a→<E> to a→n or back: the NLL rises")
    ax.legend()

# %% [markdown]
# ### Counting meets learning
#
# Could a machine find this table without being told to count? Start with scores that know nothing, a table $W$ of zeros. **One-hot
# rows look up the scores** of each current token, the **softmax** makes them probabilities, the **cross-entropy** is their price: your
# functions of lab 00, in a row. To lower the price, change each score against its error: *what the model said, minus what was
# right*. (Lab 05 shows why this is the direction downhill.) Each row takes the mean error over its own tokens, so that rare
# letters learn as fast as frequent ones, and steps 4 times that far; lab 10 asks how far is good.

# %% tags=["skip-grading"]
one_hot, lookup = mine("00", "one_hot"), mine("00", "lookup")
softmax, cross_entropy = mine("00", "softmax"), mine("00", "cross_entropy")

few = words[:1000]  # the most frequent
current = [INDEX[token] for name in few for token in ("<S>", *name)]
following = [INDEX[token] for name in few for token in (*name, "<E>")]
H, truth = one_hot(current, 28), one_hot(following, 28)  # (tokens, 28) both
seen = np.maximum(H.sum(axis=0), 1)[:, None]  # how many tokens each row has, (28, 1)

W, prices = np.zeros((28, 28)), []
for _ in track(range(200), "learning"):
    scores = lookup(H, W)
    prices.append(cross_entropy(scores, following))
    error = softmax(scores) - truth  # what was said, minus what was right
    W = W - 4 * lookup(H.T, error) / seen
learned = softmax(W)

# %% tags=["skip-grading"]
with until_written():
    needs("normalise_rows", "bigram_counts", "average_nll")
    counted = normalise_rows(bigram_counts(few))
    figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.4), width_ratios=(3, 2))
    axes[0].plot(prices, color=BLUE, label="learned")
    axes[0].axhline(average_nll(counted, few), color=ORANGE, linestyle="--", label="counted")
    axes[0].set(xlabel="steps downhill", ylabel="NLL (nats a token)")
    axes[0].legend()
    axes[1].plot(counted[:27].ravel(), learned[:27].ravel(), ".", color=BLUE)
    axes[1].axline((0, 0), slope=1, color=ORANGE, linewidth=1)
    axes[1].set_xscale("symlog", linthresh=1e-3)  # logarithmic above 0.001, linear below: 0 has a place, too
    axes[1].set_yscale("symlog", linthresh=1e-3)
    axes[1].set(xlabel="probability, counted", ylabel="probability, learned", xticks=[0, 0.001, 0.01, 0.1, 1], aspect="equal")
    figure.suptitle("Two hundred steps downhill lead close to the table that counting gives", x=0.01, ha="left", weight="bold")
    plt.show()
    print(f"these 1,000 names: counted {average_nll(counted, few):.3f}, learned {average_nll(learned, few):.3f}")
    print(f"all names:         counted {average_nll(counted, words):.3f}, learned {average_nll(learned, words):.3f}")

# %% [markdown]
# Nearly the same table, by another road. (The learned one is a little worse on its own names: after 200 steps it still leaves a little for pairs that never came, the dots above 0.
# The gap shrinks with more steps, but a softmax of finite scores never says exactly 0; on *all* names that saves it from infinity.) Then why learn, if
# counting does it at once? Because this road goes on where counting ends: what looks the scores up
# may be replaced by anything that can be improved in small steps. The translator of lab 12 is trained like this, with the same price.

# %% [markdown]
# ### The lecture's 2.45401
#
# On makemore's names the bigram's NLL is **2.45401**. The counts suffice to find it: each step $i \to j$ occurs
# $N_{ij}$ times and costs $-\ln P_{ij}$ each time, so
#
# $$\mathrm{NLL} = -\frac{\sum_{ij} N_{ij} \ln P_{ij}}{\sum_{ij} N_{ij}}.$$
#
# Makemore uses **one** token, a dot, for both ends: a 27×27 table, since the row of `<E>` and the column of `<S>` are empty anyway.
# Fold ours, and the number stays the same, for no step is lost. (In Karpathy's lecture the screen shows 2.4541. His program adds 228,146 logarithms in
# single precision, and the rounding shows in the fifth digit. That the built-in names come to 2.4541 too is chance.)

# %% tags=["skip-grading"]
def nll_of_counts(N, P):
    """The same average from counts alone: each step i → j occurs N[i, j] times."""
    seen = N > 0
    return -(N[seen] * np.log(P[seen])).sum() / N.sum()


with until_written():
    needs("normalise_rows", "bigram_counts", "average_nll")
    listed = makemore_names()
    if listed is not None:
        print(f"makemore's names, name by name:  {average_nll(makemore_P, listed):.5f}")
    print(f"makemore's names, from counts:   {nll_of_counts(makemore_counts(), makemore_P):.5f}")
    folded = makemore_counts()[:27, :27].copy()  # the dot takes over the row of <S> …
    folded[:, 0] = makemore_counts()[:27, 27]  # … and the column of <E>
    print(f"the same, folded to 27×27:       {nll_of_counts(folded, normalise_rows(folded)):.5f}")
    print(f"the built-in names, from counts: {nll_of_counts(N, P):.5f}")

# %% [markdown]
# ### In your own words (b) · infinite surprise (4 minutes, 2 points)
#
# A classmate's table was built from the first 200 names only, and on those 200
# names it reaches a *lower* NLL than yours reaches on all. Proudly they let it judge all names, and get `inf`. Say
# what happened, and why a single name can do that. Two or three sentences.

# %% [markdown] written="why_infinite" points=2
# ### BEGIN SOLUTION
# With 200 names many pairs of letters never occur, so their count and their probability are zero. Among all names
# some take such a step; its surprise is −ln 0 = ∞, and one infinite term makes the whole average infinite (as one
# factor zero makes the probability of the whole list zero). The low NLL on the 200 was measured on the very names
# that the table was fitted to, so it said nothing about new ones.
# ### END SOLUTION

# %% tags=["skip-grading"]
with until_written():
    needs("normalise_rows", "bigram_counts", "average_nll")
    few_table = normalise_rows(bigram_counts(words[:200]))
    print(f"a table from 200 names, on those 200:    {average_nll(few_table, words[:200]):.3f}  (your table on those 200: {average_nll(P, words[:200]):.3f})")
    print(f"the same table on all {len(words):,} names:    {average_nll(few_table, words)}")

# %% [markdown]
# ### Optional · Break it to believe it ●○○ (5 minutes, no points)
#
# Six impostors of `average_nll` wait behind the card below. One of them averages over *names*, not over steps. All six pass a test with this table, in which all 28 tokens are equally likely, and these two names:

# %% locked="weak_input"
weak_input = (np.full((28, 28), 1 / 28), ["ava", "bo"])

# %% [markdown]
# Let `counterexample()` return an input `(P, words)` for which they go wrong. Your own function says what is right. (`np.random.default_rng(0).dirichlet(np.ones(28), size=28)` draws a table of 28 rows that
# sum to one. What does a table in which all entries are equal hide?)

# %% question="counterexample" points=0
def counterexample():
    """An input that gives wrong averages away: (P, words)."""
    ### BEGIN SOLUTION
    return np.random.default_rng(0).dirichlet(np.ones(28), size=28), ["anna", "bo", "anna"]
    ### END SOLUTION


# %% tags=["skip-grading"]
with until_written():
    needs("average_nll")
    break_it(counterexample, average_nll)

# %% [markdown]
# ## What you can do now
#
# You can turn any sequences into a Markov chain, let it speak, and measure it. That is a complete language model:
# **predict the next token, sample it, score it by its NLL.** The translator of lab 12 does these three things too,
# with a better guess.

# %% locked="progress"
progress()

# %% [markdown]
# ## What is still missing
#
# * A step that was never seen gets probability zero, and one such step ruins everything. *What should we believe
#   about what we have never seen?* That is **lab 02**.
# * Two words of memory were enough for *battery ran*. What if the word that decides lies eight words back? The table
#   cannot grow that far. That is **lab 03**.

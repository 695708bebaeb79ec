"""Lab 00, one_hot: ids (…), V → rows with a single 1 (…, V)."""

import numpy as np

from autograder.questions.engine import Case, Observed, Question


def place_by_place(ids, V):
    ids = np.asarray(ids)
    rows = np.zeros((*ids.shape, V))
    for place, word in np.ndenumerate(ids):
        rows[(*place, int(word))] = 1.0
    return rows


question = Question(
    place_by_place,
    forbidden=(
        "torch.nn.functional.one_hot", "sklearn.preprocessing.OneHotEncoder",
        "sklearn.preprocessing.LabelBinarizer", "sklearn.preprocessing.label_binarize",
    ),
)  # fmt: skip


@question.family("A sentence becomes rows with a single 1, as wide as the vocabulary.", weight=1.25)
def sentences(rng):
    yield Case([1, 2, 0], 3, gives=[[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])
    yield Case([1, 1], 5, gives=[[0.0, 1, 0, 0, 0]] * 2)
    for _ in range(2):
        yield rng.permutation(10)[:7].tolist(), 11
    yield rng.permutation(8)[:6], 9
    yield rng.permutation([0, 1, 1]).tolist(), 2


@question.family("Ids of any shape get one more axis at the end.", weight=0.75)
def any_shape(rng):
    yield Case([[0, 1], [2, 2]], 3, gives=[[[1.0, 0, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]])
    yield rng.integers(0, 6, size=(2, 2, 8))[:, :, ::2], 7
    yield rng.integers(0, 6, size=(3, 3)), 7


@question.family(
    "Sentences of one word, and a vocabulary of one word, keep their axis of length one.", weight=0.75
)
def axes_of_length_one(rng):
    yield [[int(word)] for word in rng.integers(0, 90, 3)], 91
    yield [0] * int(rng.integers(2, 9)), 1
    yield rng.integers(0, 5, size=(2, 1, 2)).tolist(), 7


@question.family("A single id gives a single row.", weight=0.5)
def a_single_id(rng):
    yield Case(1, 3, gives=[0.0, 1.0, 0.0])
    yield int(rng.integers(0, 90)), 91


@question.family("A single id may be an array without axes.", weight=0.25)
def an_array_without_axes(rng):
    for V in (92, 93):
        yield np.array(rng.integers(0, 90)), V


@question.family("A vocabulary may have hundreds of words.", weight=0.75)
def many_words(rng):
    yield rng.integers(256, 400, 2).tolist(), 401
    yield rng.integers(256, 300, size=(2, 2)).tolist(), 301


@question.scenario("A single id may be a number of NumPy's.", weight=0.25)
def a_number_of_numpy(student, rng):
    yield Observed("the row of a single id", student(np.int64(rng.integers(0, 90)), 92))


@question.misconception("ids counted from one", costs=3)
def ids_from_one(ids, V):
    """Each 1 stands one place too far left. Ids start at 0 in this course: the word with id 0 lights the first
    place, and id 1 the second. The lecture counts from one; no correction is needed here."""
    return (np.asarray(ids)[..., None] - 1 == np.arange(V)).astype(float)


@question.misconception("as wide as the largest id", costs=2, because="right where the last word occurs")
def width_of_the_largest_id(ids, V):
    """Your rows are only as wide as the largest id that occurs. The width belongs to the vocabulary, not to the
    sentence: two sentences must give rows of the same width, or they cannot be multiplied by the same table."""
    ids = np.asarray(ids)
    return np.eye(int(ids.max()) + 1)[ids]


@question.misconception("words in columns", costs=2, because="the rows are right, as columns")
def words_in_columns(ids, V):
    """Rows and columns are swapped: each word of the sentence should be a row. The axis of the vocabulary
    comes last, after all the axes that ids already had."""
    return np.moveaxis(np.eye(V)[np.asarray(ids)], -1, 0)


@question.misconception("several sentences flattened into one", costs=2)
def shape_lost(ids, V):
    """You return one long list of rows and lose the shape of ids. Two sentences of five words should give
    (2, 5, V): keep the axes of ids and add one at the end. A single id has no axis and gives a single row."""
    return np.eye(V)[np.asarray(ids).reshape(-1)]


@question.misconception("axes of length one disappear", costs=1.5)
def squeezed(ids, V):
    """Axes of length one disappear from your result: a sentence of one word should give (1, V), and a vocabulary of one word
    rows of length one. squeeze() takes out every such axis, also those that belong to the shape of ids."""
    return (np.atleast_1d(ids)[..., None] == np.arange(V)).astype(float).squeeze()


@question.misconception("a single id becomes a sentence", costs=1)
def single_id_as_a_sentence(ids, V):
    """A single id gives a table with one row in yours. It has no axis, so there is only the one of length V: a single row."""
    return (np.array(ids, ndmin=1)[..., None] == np.arange(V)).astype(float)


@question.alternative
def one_hot_as_truth_values(ids, V):
    return np.equal.outer(np.asarray(ids), np.arange(V))


@question.alternative
def one_hot_torch_in_half_precision(ids, V):
    import torch

    return torch.eye(V, dtype=torch.float16)[torch.as_tensor(np.asarray(ids)).long()]

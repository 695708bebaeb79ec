"""Public checks of lab 12: the batch of the text, an emptied transformer, a model that says what it is told, a growing cache, BLEU by hand."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coursekit.checks.api import Hint, close, ensure, equal, learned, public_check
from coursekit.checks.break_it import impostor
from coursekit.provided.p08_multi_head import MultiHeadAttention

_SCORERS = (
    "sacrebleu.corpus_bleu",
    "sacrebleu.sentence_bleu",
    "sacrebleu.BLEU",
    "sacrebleu.metrics.BLEU",
    "nltk.translate.bleu_score.corpus_bleu",
    "nltk.translate.bleu_score.sentence_bleu",
)
_READY_MADE = tuple(
    f"torch.nn.{place}{name}"
    for name in (
        "Transformer",
        "TransformerEncoder",
        "TransformerDecoder",
        "TransformerEncoderLayer",
        "TransformerDecoderLayer",
    )
    for place in ("", "modules.transformer.")
)
FORBIDDEN = {"Transformer": _READY_MADE, "bleu": _SCORERS}


# ---------------------------------------------------------------------------------------------- make_batch


def _three(result: Any) -> tuple[Any, Any, Any]:
    ensure(result is not None, "your function returns None: does it end with a return?")
    good = isinstance(result, (tuple, list)) and len(result) == 3
    ensure(good, "return three things: return source, decoder_input, labels")
    for part in result:
        ensure(isinstance(part, Tensor), "each of the three should be a tensor: torch.tensor(rows)")
        ensure(
            part.dtype == torch.long,
            f"the tensors should hold whole numbers of the kind torch.long, but one of yours holds {part.dtype}",
        )
    return result[0], result[1], result[2]


@public_check("make_batch")
def the_batch_of_the_text(make_batch: Any) -> None:
    """The two pairs of the text."""
    source, decoder_input, labels = _three(make_batch([([7, 8, 9], [5]), ([4], [6, 7])]))
    ensure(
        not ({1, 2} & {*source.flatten().tolist()}),
        "there is BOS or EOS in source: the source sentences get neither, only padding",
    )
    ensure(
        2 not in decoder_input.flatten().tolist() or decoder_input.tolist() == labels.tolist(),
        "decoder_input should not hold EOS: nothing is to be said after it",
    )
    for name, part in (("source", source), ("decoder_input", decoder_input), ("labels", labels)):
        ensure(tuple(part.shape) == (2, 3), f"{name} has shape {tuple(part.shape)}, but (2, 3) is expected")
    ensure(source.tolist() != [[7, 8, 9], [0, 0, 4]], "the padding comes after the sentence, not before it")
    close(source, [[7, 8, 9], [4, 0, 0]], "source should be [[7, 8, 9], [4, 0, 0]]")
    ensure(
        decoder_input.tolist() != labels.tolist(),
        "decoder_input and labels are the same: the answer stands in the question; decoder_input begins with BOS, labels end with EOS",
    )
    close(
        decoder_input,
        [[1, 5, 0], [1, 6, 7]],
        "decoder_input should be [[1, 5, 0], [1, 6, 7]]: BOS, the target, padding",
    )
    ensure(
        labels.tolist() != [[5, 0, 2], [6, 7, 2]],
        "EOS comes directly after the sentence, before the padding",
    )
    close(labels, [[5, 2, 0], [6, 7, 2]], "labels should be [[5, 2, 0], [6, 7, 2]]: the target, EOS, padding")


@public_check("make_batch")
def shifted_by_one(make_batch: Any) -> None:
    """The label of each position is the decoder's input at the next one."""
    pairs = [([5, 6], [10, 11, 12, 13]), ([7, 8, 9, 4], [14, 15]), ([6], [16])]
    source, decoder_input, labels = _three(make_batch(pairs))
    equal(list(source.shape), [3, 4], "source should be as wide as the longest source sentence, 4")
    equal(
        list(decoder_input.shape),
        [3, 5],
        "decoder_input should be as wide as the longest target and one more, 5",
    )
    rows = [[5, 6, 0, 0], [7, 8, 9, 4], [6, 0, 0, 0]]
    ensure(
        source.tolist() == rows or sorted(source.tolist()) != sorted(rows),
        "the rows stand in another order than the pairs: row i belongs to pair i",
    )
    close(source, rows, f"source should be {rows}")
    for row, (_, target) in enumerate(pairs):
        equal(labels[row, : len(target)].tolist(), target, "labels should begin with the target's first word")
        equal(
            decoder_input[row, 1 : len(target) + 1].tolist(),
            target,
            "in decoder_input, the target should come after BOS",
        )


@public_check("make_batch")
def each_language_has_its_own_width(make_batch: Any) -> None:
    """A long translation of a short sentence widens the target's side only."""
    source, decoder_input, labels = _three(make_batch([([5], [10, 11, 12]), ([6, 7], [13])]))
    equal(
        list(source.shape),
        [2, 2],
        "source should be as wide as the longest *source* sentence, 2, whatever the targets are",
    )
    sides = (decoder_input, [[1, 10, 11, 12], [1, 13, 0, 0]]), (labels, [[10, 11, 12, 2], [13, 2, 0, 0]])
    for part, rows in sides:
        close(part, rows, f"with the targets [10, 11, 12] and [13] there should be {rows}")


@public_check("make_batch")
def one_pair_with_unknown_words(make_batch: Any) -> None:
    """A single pair is a batch, too, and an unknown word has a number like any other."""
    parts = _three(make_batch([([7, 3, 8], [3, 5])]))
    for name, part in zip(("source", "decoder_input", "labels"), parts, strict=True):
        ensure(
            part.dim() == 2,
            f"of a single pair {name} has shape {tuple(part.shape)}, but (1, 3) is expected: the axis of the batch stays (no squeeze)",
        )
        ensure(
            3 in part.flatten().tolist(),
            f"UNKNOWN (3) is gone from {name}: unknown words have a number like any other, and stay",
        )
        rows = {"source": [[7, 3, 8]], "decoder_input": [[1, 3, 5]], "labels": [[3, 5, 2]]}[name]
        close(part, rows, f"of the pair ([7, 3, 8], [3, 5]) {name} should be {rows}")
    source = _three(make_batch([([7], [5, 6]), ([8], [9, 4])]))[0]
    ensure(
        tuple(source.shape) == (2, 1),
        f"of two source sentences of one word source has shape {tuple(source.shape)}, but (2, 1) is expected",
    )


# --------------------------------------------------------------------------------------------- Transformer


def _built(Transformer: Any, layers: int = 2) -> Any:
    torch.manual_seed(0)
    model = Transformer(30, 40, 12, 3, 20, layers)
    ensure(isinstance(model, nn.Module), "the class should derive from nn.Module, as the stub does")
    for name, size in (("source_embedding", 30), ("target_embedding", 40)):
        table = getattr(model, name, None)
        good = isinstance(table, nn.Embedding) and tuple(table.weight.shape) == (size, 12)
        ensure(good, f"{name} should be nn.Embedding({name[:6]}_size, d_model)")
    for name in ("encoder", "decoder"):
        blocks = getattr(model, name, None)
        good = isinstance(blocks, nn.ModuleList) and len(blocks) == layers
        ensure(good, f"{name} should be an nn.ModuleList of as many blocks as there are layers")
        ensure(
            len({id(block) for block in blocks or ()}) == layers,
            f"the {name} holds the same block several times: build a new one for each layer",
        )
    return model.eval()


def _sines(T: int, D: int) -> np.ndarray:
    place, column = np.mgrid[:T, :D]
    angle = place / 10000.0 ** (column // 2 * 2 / D)
    sines: np.ndarray = np.where(column % 2, np.cos(angle), np.sin(angle))
    return sines


@public_check("Transformer")
def names_and_first_weights(Transformer: Any) -> None:
    """Its parts have the names of the text, the embeddings start small, and nothing else is learned."""
    model = _built(Transformer)
    parts = ("source_embedding.", "target_embedding.", "encoder.", "decoder.")
    extra = [
        name for name in learned(model, lambda name: name.startswith(parts)) if not name.startswith(parts)
    ]
    ensure(
        not extra, f"it learns more than the text says: {', '.join(extra)} (the output uses target_embedding)"
    )
    torch.manual_seed(0)
    for table in (wide := Transformer(300, 200, 64, 2, 4, 1)).source_embedding, wide.target_embedding:
        spread = float(table.weight.detach().std())
        ensure(
            abs(spread - 0.125) < 0.01,
            f"with d_model = 64 the embeddings should have standard deviation 1/8, but it is {spread:.2f}",
        )


@public_check("Transformer")
def words_and_places(Transformer: Any) -> None:
    """Without any blocks, the memory is √d_model times the embedding, plus the position."""
    model = _built(Transformer)
    model.encoder = nn.ModuleList()
    source = torch.tensor([[7, 8, 9, 7]])
    found = model.encode(source)
    ensure(isinstance(found, (tuple, list)) and len(found) == 2, "encode should return memory, memory_mask")
    memory, mask = found
    words = model.source_embedding.weight.detach()[source[0]].numpy()
    places = _sines(4, 12)
    close(np.array(memory.shape), [1, 4, 12], "the memory should have shape (B, S, d_model)")
    result = memory.detach()[0].numpy()
    ensure(
        not np.allclose(result, words + places, atol=1e-4),
        "the embeddings are not multiplied by √d_model before the positions are added",
    )
    ensure(not np.allclose(result, 12**0.5 * words, atol=1e-4), "the positions are missing")
    ensure(
        not np.allclose(result, 12**0.5 * (words + places), atol=1e-4),
        "the root multiplies the embeddings only, not the positions",
    )
    close(
        result,
        12**0.5 * words + places,
        "the first block should get √d_model · embedding + position",
        atol=1e-4,
    )
    equal(list(mask.shape), [1, 1, 4], "the memory mask should have shape (B, 1, S)")
    ensure(bool(mask.all()), "without padding, the memory mask should be True everywhere")


@public_check("Transformer")
def tied(Transformer: Any) -> None:
    """Without any blocks, the logits compare the decoder's words with the rows of target_embedding."""
    model = _built(Transformer)
    model.encoder, model.decoder = nn.ModuleList(), nn.ModuleList()
    target = torch.tensor([[1, 5, 6]])
    logits = model(torch.tensor([[7, 8]]), target)
    equal(list(logits.shape), [1, 3, 40], "the logits should have shape (B, T, target_size)")
    table = model.target_embedding.weight.detach().numpy()
    expected = (12**0.5 * table[[1, 5, 6]] + _sines(3, 12)) @ table.T
    ensure(
        not np.allclose(logits.detach()[0], 12**0.5 * table[[1, 5, 6]] @ table.T, atol=1e-4),
        "the positions are missing in decode: German words have places, too",
    )
    for wrong, hint in (
        (table[[1, 5, 6]] + _sines(3, 12), "in decode the embeddings are not multiplied by √d_model"),
        (
            12**0.5 * (table[[1, 5, 6]] + _sines(3, 12)),
            "in decode the root multiplies the positions, too: it belongs to the embeddings only",
        ),
    ):
        ensure(not np.allclose(logits.detach()[0], wrong @ table.T, atol=1e-4), hint)
    for softmax, name in ((torch.log_softmax, "log-probabilities"), (torch.softmax, "probabilities")):
        ensure(
            not np.allclose(logits.detach()[0], softmax(torch.tensor(expected), -1), atol=1e-4),
            f"these are {name}; decode returns the logits: the loss and the search take the softmax themselves",
        )
    close(
        logits[0],
        expected,
        "without any blocks the logits should be √d_model · embedding + position of each German word, times target_embedding, transposed",
        atol=1e-4,
    )


@public_check("Transformer")
def each_block_gets_what_the_last_returned(Transformer: Any) -> None:
    """The encoder's blocks follow one another, and each English word may hear all the others."""
    model = _built(Transformer, layers=2)
    source = torch.tensor([[7, 8, 9, 10]])
    blocks = list(model.encoder)
    with torch.no_grad():
        memory, mask = model.encode(source)
        model.encoder = nn.ModuleList()
        words = model.encode(source)[0]
        stacked = blocks[1](blocks[0](words, mask), mask)
        before = mask & torch.ones(4, 4, dtype=torch.bool).tril()
        causal = blocks[1](blocks[0](words, before), before)
        last = blocks[1](words, mask)
    for wrong, hint in (
        (
            last,
            "each block of the encoder gets the embeddings: it should get what the block before it returned",
        ),
        (
            causal,
            "an English word hears only those before it, but the whole sentence is there: no causal mask in the encoder",
        ),
    ):
        ensure(not torch.allclose(memory, wrong, atol=1e-5), hint)
    close(
        memory,
        stacked,
        "the memory should be what the blocks make of the words, one after the other",
        atol=1e-5,
    )


@public_check("Transformer")
def decode_uses_what_it_is_given(Transformer: Any) -> None:
    """What decode says depends on its arguments, and on the number of heads."""
    model, single = _built(Transformer), Transformer(30, 40, 12, 1, 20, 2).eval()
    source, target = torch.tensor([[7, 8, 9, 10]]), torch.tensor([[1, 5, 6]])
    with torch.no_grad():
        given = model.encode(source)
        before = model.decode(target, *given)
        model.encode(torch.tensor([[5, 6, 0, 0]]))
        ensure(
            torch.allclose(model.decode(target, *given), before, atol=1e-5),
            "decode says something else when encode has read another sentence in between: use the memory and the memory_mask that decode is "
            "given, and keep nothing of encode's on self",
        )
        for name in ("encoder", "decoder"):
            try:
                getattr(single, name).load_state_dict(getattr(model, name).state_dict())
            except RuntimeError:  # blocks of somebody's own may have other weights for other heads
                continue
            several, one = (
                stack.encode(source)[0] if name == "encoder" else stack.decode(target, *given)
                for stack in (model, _with_its_words(single, model))
            )
            ensure(
                not torch.allclose(several, one, atol=1e-5),
                f"heads = 1 and heads = 3 make no difference in the {name}: hand heads on to each of its blocks",
            )


def _with_its_words(model: Any, other: Any) -> Any:
    """A model with the embeddings of another."""
    for name in ("source_embedding", "target_embedding"):
        getattr(model, name).load_state_dict(getattr(other, name).state_dict())
    return model


@public_check("Transformer")
def a_batch_is_its_sentences(Transformer: Any) -> None:
    """In a batch each sentence gets the logits that it gets alone; a sentence may have 64 words."""
    model = _built(Transformer)
    source = torch.tensor([[7, 8, 9, 10], [11, 3, 0, 0], [6, 7, 8, 0]])
    target = torch.tensor([[1, 5, 6], [1, 7, 8], [1, 9, 4]])
    with torch.no_grad():
        model(torch.full((1, 64), 5), torch.full((1, 64), 6))
        try:
            memory, mask = model.encode(source)
        except RuntimeError as error:
            raise Hint(
                f"with three sentences of 4, 2 and 3 words encode stops ({' '.join(str(error).split())[:90]}): the mask of the "
                "words should have shape (B, 1, S), with the axis for the queries in the middle"
            ) from None
        ensure(
            tuple(mask.shape) == (3, 1, 4),
            f"for three sentences the memory mask should have shape (3, 1, 4), but it has {tuple(mask.shape)}",
        )
        ensure(
            not torch.equal(mask.bool(), (source > 3)[:, None]),
            "the memory mask hides UNKNOWN (3): that is a word like any other; only PAD is hidden",
        )
        equal(
            mask.bool(),
            (source != 0)[:, None],
            "the memory mask should be True where the source is not PAD (0)",
        )
        together = model(source, target)
        heard = model.decode(target, memory, torch.ones_like(mask))
        ensure(
            not torch.allclose(together[1], heard[1], atol=1e-5),
            "the German words listen to the padding of the source: hand memory_mask on to each block of the decoder",
        )
        for row, (s, t) in enumerate(zip(source, target, strict=True)):
            words = s[s != 0][None]
            close(
                memory[row, : words.shape[1]],
                model.encode(words)[0][0],
                f"in a batch sentence {row} gets another memory than alone: hand the mask on to each block of the encoder, so that nobody "
                "listens to padding",
                atol=1e-5,
            )
            close(
                together[row],
                model(words, t[None])[0],
                f"sentence {row} of a batch gets other logits than alone: does the mask hide the padding of each sentence?",
                atol=1e-5,
            )


@public_check("Transformer")
def no_peeking(Transformer: Any) -> None:
    """A later German word changes nothing before it, and padding of the source changes nothing at all."""
    model = _built(Transformer)
    source, target = torch.tensor([[7, 8, 9]]), torch.tensor([[1, 5, 6, 7]])
    with torch.no_grad():
        logits = model(source, target)
        later = model(source, torch.tensor([[1, 5, 6, 30]]))
        padded = model(torch.tensor([[7, 8, 9, 0, 0]]), target)
        other = model(torch.tensor([[7, 8, 10]]), target)
    ensure(
        not torch.isnan(logits).any(), "there is nan in the logits: does some word have nobody to listen to?"
    )
    close(
        later[:, :3],
        logits[:, :3],
        "the last German word changes what is said before it: is the causal mask there?",
    )
    close(padded, logits, "padding after the source changes the logits: where is it masked?", atol=1e-5)
    ensure(
        not torch.allclose(other, logits),
        "the logits do not depend on the source: does the memory reach the decoder?",
    )


@public_check("Transformer")
def dropout_in_the_blocks_only(Transformer: Any) -> None:
    """Dropout acts in the blocks of the encoder and of the decoder, and nowhere else."""
    torch.manual_seed(0)
    model = Transformer(30, 40, 12, 3, 20, 2, dropout=0.5).train()
    source, target = torch.tensor([[7, 8, 9]]), torch.tensor([[1, 5, 6]])
    with torch.no_grad():
        memory, mask = model.encode(source)
        encoded = model.encode(source)[0]
        decoded, again = (model.decode(target, memory, mask) for _ in range(2))
        model.encoder, model.decoder = nn.ModuleList(), nn.ModuleList()
        bare, bare_again = (model(source, target) for _ in range(2))
    for name, first, second in (("EncoderBlock", memory, encoded), ("DecoderBlock", decoded, again)):
        ensure(
            not torch.equal(first, second),
            f"with dropout = 0.5 two runs in training mode give the same: hand dropout on to each {name}",
        )
    ensure(
        torch.allclose(bare, bare_again),
        "without any blocks two runs in training mode differ: dropout acts in the blocks only, not on embeddings or logits",
    )


@public_check("Transformer")
def the_output_teaches_the_table(Transformer: Any) -> None:
    """The table target_embedding learns from the output, too."""
    model = _built(Transformer)
    model.encoder, model.decoder = nn.ModuleList(), nn.ModuleList()
    model(torch.tensor([[7, 8]]), torch.tensor([[1, 5, 6]])).sum().backward()
    gradient = model.target_embedding.weight.grad
    ensure(
        gradient is not None and float(gradient[20].abs().max()) > 0,
        "word 20 is not in the sentence, so its row can learn from the logits only, but it gets no gradient: use "
        "target_embedding.weight itself, no copy and no detach",
    )


# ----------------------------------------------------------------------------------------------- translate


class _Told(nn.Module):
    """A model with a fixed table: P(next word | last word), whatever the source is. It counts what is called."""

    def __init__(self, table: dict[int, dict[int, float]], size: int = 9) -> None:
        super().__init__()
        rows = torch.full((size, size), 1e-9)
        for word, after in table.items():
            for following, probability in after.items():
                rows[word, following] = probability
        self.rows, self.encoded, self.recorded = rows.log(), 0, ""
        self.source: list[int] = []
        self.dropout = nn.Dropout(0.5)
        self.learned = nn.Parameter(torch.zeros(1))

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        self.encoded += 1
        ensure(isinstance(source, Tensor) and source.dim() == 2, "encode wants the source as a tensor (1, S)")
        self.source = source[0].tolist()
        ensure(
            not self.training, "encode runs while the model is in training mode: call model.eval() before it"
        )
        self.recorded = self.recorded or ("encoding" if torch.is_grad_enabled() else "")
        return self._memory(source), (source != 0)[:, None]

    @staticmethod
    def _memory(source: Tensor) -> Tensor:
        return source[:, :, None] * torch.arange(1.0, 5.0)

    def decode(self, target: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        ensure(
            isinstance(target, Tensor) and target.dim() == 2, "decode wants the prefixes as a tensor (n, t)"
        )
        fits = len(memory) in (1, len(target)) and memory_mask.shape[1] == 1
        fits = fits and memory.shape[1] == len(self.source) == memory_mask.shape[2]
        fits = fits and bool(
            (memory == self._memory(torch.tensor([self.source]))).all() and memory_mask.all()
        )
        ensure(fits, "decode should get the memory and its mask as encode returned them, for all n prefixes")
        ensure(not self.training, "the model is still in training mode: call model.eval() first")
        self.recorded = self.recorded or ("decoding" if torch.is_grad_enabled() else "")
        # The 3 goes away in a softmax, and would favour short sentences without one.
        logits: Tensor = self.dropout(self.rows[target]) - 3
        return logits

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, *self.encode(source))


_GREEDY_ERRS = {1: {4: 0.4, 5: 0.6}, 5: {2: 0.4, 6: 0.3, 7: 0.3}, 4: {8: 0.9, 2: 0.1}, 8: {2: 1.0}}


@public_check("translate")
def greedy_and_beam(translate: Any) -> None:
    """A beam of 1 takes the best next word each time; a beam of 2 finds a better sentence."""
    said = translate(_Told(_GREEDY_ERRS), [4, 5, 6])
    ensure(said is not None, "your function returns None: does it end with a return?")
    ensure(1 not in list(said), "the result should come without BOS (1)")
    ensure(2 not in list(said), "the result should come without EOS (2)")
    equal(list(said), [5], "with beam = 1 the translation should be [5]: .6 · .4 for the end at once")
    equal(
        list(translate(_Told(_GREEDY_ERRS), [4, 5, 6], beam=2)),
        [4, 8],
        "with beam = 2 the translation should be [4, 8], of probability .4 · .9 = .36 against .24: does `step` return "
        "log-probabilities (log_softmax), and is k = beam?",
    )


@public_check("translate")
def the_words_as_they_are(translate: Any) -> None:
    """The source goes in as it is, and an unknown word comes out like any other."""
    model = _Told({1: {4: 1.0}, 4: {3: 1.0}, 3: {5: 1.0}, 5: {2: 1.0}})
    said = list(translate(model, [6, 3, 7]))
    framed = [word for word in model.source if word not in (1, 2)] == [6, 3, 7]
    why = (
        ", without BOS or EOS"
        if framed
        else "; UNKNOWN (3) is one like any other"
        if model.source == [6, 7]
        else ""
    )
    ensure(
        model.source == [6, 3, 7],
        f"for the source [6, 3, 7] encode got {model.source}: hand over the words as they are{why}",
    )
    ensure(
        said != [4, 5], "UNKNOWN (3) is gone from the translation: leave out BOS and EOS, and nothing else"
    )
    kinds = [str(getattr(word, "dtype", type(word).__name__)) for word in said]
    ensure(
        not any("float" in kind for kind in kinds),
        "the translation holds floats, but word numbers are integers: is it an array made without a dtype?",
    )
    equal(said, [4, 3, 5], "the translation should be [4, 3, 5]")


@public_check("translate")
def the_penalty_reaches_the_search(translate: Any) -> None:
    """With a length penalty of 1 a longer sentence wins."""
    table = {1: {4: 0.55, 5: 0.45}, 5: {2: 1.0}, 4: {8: 0.8, 2: 0.2}, 8: {6: 0.9, 2: 0.1}, 6: {2: 1.0}}
    said = list(translate(_Told(table), [4], beam=2))
    equal(said, [5], "without a penalty and with beam = 2 it should be [5], of probability .45")
    said = list(translate(_Told(table), [4], beam=2, length_penalty=1.0))
    ensure(said != [5], "with length_penalty = 1 nothing has changed: hand it on to beam_search")
    equal(said, [4, 8, 6], "with length_penalty = 1 it should be [4, 8, 6]: log(.396)/4 against log(.45)/2")


@public_check("translate")
def it_stops(translate: Any) -> None:
    """It stops after max_length words when the end does not come."""
    said = translate(_Told({1: {5: 1.0}, 5: {6: 1.0}, 6: {5: 1.0}}), [4], max_length=5)
    ensure(
        list(said) != [5, 6, 5, 6],
        "the fifth word is missing, though EOS never came: leave out EOS and not whatever stands last",
    )
    equal(list(said), [5, 6, 5, 6, 5], "with max_length = 5 it should say 5 words")
    table = {1: {4: 0.6, 5: 0.4}, 4: {6: 0.5, 7: 0.5}, 5: {8: 1.0}}
    equal(
        list(translate(_Told(table), [4], beam=2, max_length=1)),
        [4],
        "with beam = 2 and max_length = 1 it should be [4], of probability .6 against .4 for [5]: the search ends after max_length words, "
        "and what would follow does not count",
    )


@public_check("translate")
def the_encoder_runs_once(translate: Any) -> None:
    """The encoder runs once for a sentence, and nothing is recorded for gradients."""
    model = _Told(_GREEDY_ERRS)
    model.train()
    translate(model, [4, 5], beam=2)
    ensure(
        model.encoded == 1,
        f"the encoder ran {model.encoded} times: call encode once, before the search, and keep the memory",
    )
    ensure(
        not model.recorded,
        f"gradients are recorded while {model.recorded}: model.encode and model.decode both belong under torch.no_grad()",
    )
    ensure(
        model.learned.requires_grad,
        "after a translation the model can't be trained any more: requires_grad_(False) stays, torch.no_grad() ends with its block",
    )


# ---------------------------------------------------------------------------------------- cached_attention


def _attention(d_model: int, h: int) -> MultiHeadAttention:
    torch.manual_seed(3)
    return MultiHeadAttention(d_model, h).double().eval()


def _output_and_cache(result: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The result, known to be an output and a pair of keys and values."""
    ensure(result is not None, "your function returns None: does it end with a return?")
    good = isinstance(result, (tuple, list)) and len(result) == 2
    ensure(good, "return two things: the output, and the pair (keys, values)")
    output, cache = result
    good = isinstance(cache, (tuple, list)) and len(cache) == 2
    ensure(good, "the second thing that you return should be a pair: (keys, values)")
    for part in (output, *cache):
        ensure(isinstance(part, Tensor), "output, keys and values should be tensors")
    return output.detach().double(), cache[0].detach().double(), cache[1].detach().double()


def _with_scores_times(attention: MultiHeadAttention, factor: float) -> MultiHeadAttention:
    """The same layers, but for the scores."""
    other = copy.deepcopy(attention)
    other.W_Q.weight.mul_(factor)
    other.W_Q.bias.mul_(factor)
    return other


@public_check("cached_attention")
def the_first_position(cached_attention: Any) -> None:
    """Without a cache a position listens to itself alone, and the cache holds its key and its value."""
    attention, x = _attention(6, 2), torch.arange(12.0, dtype=torch.double).reshape(2, 1, 6) / 10
    output, keys, values = _output_and_cache(cached_attention(attention, x, 2))
    with torch.no_grad():
        key, value, expected = attention.W_K(x), attention.W_V(x), attention(x)[0]
    equal(list(output.shape), [2, 1, 6], "the output should have shape (B, 1, d_model)")
    ensure(
        not torch.allclose(output, x + expected),
        "x is added to the output: that is the business of the block around the attention; return W_O of what was heard",
    )
    ensure(
        not torch.allclose(output, value),
        "the output is what the heads heard: it has to go through W_O as well",
    )
    close(output, expected, "alone, a position hears its own value: the output should be W_O(W_V(x))")
    equal(
        list(keys.shape),
        [2, 1, 6],
        "after one position the keys should have shape (B, 1, d_model): not yet cut into heads",
    )
    ensure(
        not torch.allclose(keys, x) or not torch.allclose(values, x),
        "you keep the vectors x, so that keys and values are computed again: keep W_K(x) and W_V(x)",
    )
    close(keys, key, "the keys of the cache should be W_K(x)")
    close(values, value, "the values of the cache should be W_V(x)")


@public_check("cached_attention")
def word_by_word_is_all_at_once(cached_attention: Any) -> None:
    """Word by word it says what the attention of lab 08, with the causal mask, says to the whole sentence."""
    attention = _attention(8, 2)
    torch.manual_seed(4)
    x = torch.randn(1, 4, 8).double()
    with torch.no_grad():
        expected = attention(x, mask=torch.ones(4, 4, dtype=torch.bool).tril())[0]
        so_far = torch.ones(4, 4, dtype=torch.bool).tril()
        one_head = _one_head(attention, x)
        wide, bare = (_with_scores_times(attention, factor)(x, mask=so_far)[0] for factor in (0.5**0.5, 2.0))
        given: list[Any] = [None]
        for t in range(4):
            result = cached_attention(attention, x[:, t : t + 1], 2, given[-1])
            output, *cache = _output_and_cache(result)
            given.append(result[1])
            equal(
                list(output.shape),
                [1, 1, 8],
                f"the output for position {t} should have shape (B, 1, d_model)",
            )
            if t:
                alone = attention(x[:, t : t + 1])[0]
                deaf = attention(x[:, t : t + 1], x[:, :t])[0]
                ensure(
                    not torch.allclose(output, alone), "the new position hears itself alone: use the cache"
                )
                ensure(
                    not torch.allclose(output, deaf),
                    "the new position hears the earlier ones, but not itself: add its key and value before you attend",
                )
                ensure(
                    not torch.allclose(output, one_head[:, t : t + 1]),
                    "this is attention with one head: cut queries, keys and values with split_heads",
                )
                ensure(
                    not torch.allclose(output, wide[:, t : t + 1]),
                    "the scores are divided by √d_model: a head has d_k = d_model / h columns, so it is √d_k (attend does it)",
                )
                ensure(
                    not torch.allclose(output, bare[:, t : t + 1]),
                    "the scores are not divided by √d_k, the columns of a head (attend does it)",
                )
            close(output, expected[:, t : t + 1], f"position {t} says something else than in one go")
            equal(
                list(cache[0].shape),
                [1, t + 1, 8],
                f"after {t + 1} positions the keys should have shape (B, {t + 1}, d_model)",
            )
    for name, part, layer in (("keys", cache[0], attention.W_K), ("values", cache[1], attention.W_V)):
        right = layer(x).detach()
        ensure(
            not torch.allclose(part, right.flip(1)), f"the {name} stand newest first; the oldest comes first"
        )
        close(part, right, f"after four positions the {name} of the cache should be those of all four")
    with torch.no_grad():
        again = _output_and_cache(cached_attention(attention, x[:, 1:2], 2, given[1]))[0]
    close(
        again,
        expected[:, 1:2],
        "from the cache of one position, given once more, it goes on with something else: a beam goes on from one cache in several ways, so "
        "use the keys and values that you are given, and keep none elsewhere",
    )


@public_check("cached_attention")
def each_sentence_its_own_cache(cached_attention: Any) -> None:
    """Several sentences at once: each hears its own words."""
    attention = _attention(8, 2)
    torch.manual_seed(5)
    x = torch.randn(3, 3, 8).double()
    with torch.no_grad():
        expected = attention(x, mask=torch.ones(3, 3, dtype=torch.bool).tril())[0]
        cache = None
        for t in range(3):
            result = cached_attention(attention, x[:, t : t + 1], 2, cache)
            output, cache = _output_and_cache(result)[0], result[1]
            close(
                output,
                expected[:, t : t + 1],
                f"with three sentences at once position {t} says something else than in one go, though a sentence alone is right: do "
                "old and new come together along dim = 1?",
            )


def _one_head(attention: MultiHeadAttention, x: Tensor) -> Tensor:
    """What the layers say with a single head."""
    single = MultiHeadAttention(x.shape[-1], 1).double()
    single.load_state_dict(attention.state_dict())
    output: Tensor = single(x, mask=torch.ones(4, 4, dtype=torch.bool).tril())[0]
    return output


# ---------------------------------------------------------------------------------------------------- bleu


@public_check("bleu")
def the_sentence_of_the_text(bleu: Any) -> None:
    """The sentence of the text: 54.75."""
    score = bleu([list("abcde")], [list("abcdfg")])
    ensure(score is not None, "your function returns None: does it end with a return?")
    for wrong, hint in (
        (66.874, "this is the value without the brevity penalty"),
        (0.5475, "multiply by 100"),
        (55.7284, "the brevity penalty is e^(1 − r/c), not c/r"),
        (60.3269, "n-grams of 4 words are missing, or the root is not the fourth"),
        (79.002, "the brevity penalty makes the score larger: it is e^(1 − r/c), with r for the references"),
        (
            81.681,
            "the brevity penalty makes the score larger: it is e^(1 − r/c), and r is larger than c here",
        ),
        (55.6055, "take the fourth root of the product of the precisions, not their mean"),
    ):
        ensure(abs(float(score) - wrong) > 0.006, f"{float(score):.4g}: {hint}")
    rounded = [round(54.75182535, digits) for digits in range(6)]
    ensure(
        float(score) not in rounded, f"{score} is 54.75182… rounded: return the score as it is, not rounded"
    )
    close(score, 54.7518, "the BLEU of the text's example should be 54.7518", atol=1e-3)


@public_check("bleu")
def clipped(bleu: Any) -> None:
    """A word counts only as often as the reference has it; a perfect translation gets 100."""
    close(bleu([list("abcdef")], [list("abcdef")]), 100.0, "a perfect translation should get 100")
    score = bleu([list("abcdaaaa")], [list("abcd")])
    ensure(
        abs(float(score) - 41.1134) > 1e-3,
        "clip the matches: the reference has one “a”, so only one “a” of the translation counts",
    )
    close(
        score,
        34.5721,
        "a b c d a a a a for a b c d should get 34.57: clipped matches, and a brevity penalty of 1, as it is not too short",
        atol=1e-3,
    )


@public_check("bleu")
def one_corpus(bleu: Any) -> None:
    """Matches and totals of all sentences are summed before they are divided."""
    hypotheses, references = [list("abcde"), list("xy")], [list("abcde"), list("xz")]
    score = bleu(hypotheses, references)
    ensure(abs(float(score) - 50) > 1e-3, "this is the mean of the sentences' scores; sum the counts first")
    ensure(
        abs(float(score) - 76.5206) > 1e-3,
        "“x y” is counted with one 3-gram and one 4-gram, but a sentence of two words has none: L − n + 1 n-grams, and never fewer than 0",
    )
    close(
        score,
        90.9988,
        "“a b c d e” and “x y” for “a b c d e” and “x z” should get 91.00 together: of 7, 5, 3 and 2 n-grams 6, 4, 3 and 2 match",
        atol=1e-3,
    )
    close(bleu([list("ab")], [list("ab")]), 0.0, "without any 3-gram the score is 0")


@public_check("bleu")
def each_sentence_its_own_reference(bleu: Any) -> None:
    """Each translation is compared with its own reference, word by word; where nothing is said the score is 0."""
    score = float(bleu([list("abcdef"), list("ghijkl")], [list("abcdxy"), list("ghijef")]))
    ensure(
        abs(score - 55.8395) > 1e-2,
        "“e f” counts as a match, though only the other sentence's reference has it: clip each sentence by its own reference",
    )
    close(
        score,
        50.8133,
        "two translations, each with four words of its own reference, should get 50.81",
        atol=1e-3,
    )
    score = float(bleu([["a", "bc", "d", "e"]], [["ab", "c", "d", "e"]]))
    ensure(
        score == 0,
        f"“a bc d e” gets {score:.3g} against “ab c d e”, though they share no trigram: keep the words of an n-gram apart, in a tuple",
    )
    try:
        nothing = bleu([[], []], [list("abc"), list("de")])
    except ZeroDivisionError:
        raise Hint(
            "where all translations are empty it divides by zero: without any match the score is 0"
        ) from None
    close(nothing, 0.0, "where all translations are empty the score should be 0")


@public_check("bleu")
def one_brevity_and_capitals(bleu: Any) -> None:
    """One brevity penalty for the whole corpus; a capital or another mark makes another word."""
    score = bleu([list("abcde"), list("abcdefg")], [list("abcdef"), list("abcdef")])
    ensure(
        abs(float(score) - 80.0864) > 1e-3,
        "both sides have 12 words in all, so there is no penalty: the lengths are summed over all the sentences first",
    )
    close(
        score,
        88.0684,
        "two sentences, one a word too short and one a word too long, should get 88.07",
        atol=1e-3,
    )
    score = bleu([list("Abcdef")], [list("abcdef")])
    ensure(abs(float(score) - 100) > 1e-3, "A and a are two different words: do not lower the case")
    close(score, 75.9836, "with one capital too many the score should be 75.98", atol=1e-3)
    score = bleu([list("abcde?")], [list("abcde.")])
    ensure(abs(float(score) - 100) > 1e-3, "“?” and “.” are two different words: drop no punctuation marks")
    close(score, 75.9836, "with a “?” for the “.” the score should be 75.98", atol=1e-3)
    score = float(bleu([list("abcdef"), []], [list("abcdef"), list("xyz")]))
    ensure(
        abs(score - 100) > 1e-3,
        "where one translation of two is empty the score is 100: the words of its reference count in r like any others",
    )
    close(score, 60.6531, "“a b c d e f” for itself and nothing for “x y z” should get 60.65", atol=1e-3)


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("bleu")
def takes_one_for_the_other(right: Any, hypotheses: Any, references: Any) -> Any:
    """It takes the translations for references, and the references for translations.

    One survives: how long must they be, all together, so that precision and recall differ?
    """
    return right(references, hypotheses)


@impostor("bleu")
def forgives_brevity(right: Any, hypotheses: Any, references: Any) -> Any:
    """It has no brevity penalty.

    One survives: your translations have as many words, all together, as the references, or more.
    """
    ours, theirs = (sum(len(row) for row in side) for side in (hypotheses, references))
    forgiven = float(np.exp(theirs / ours - 1)) if 0 < ours < theirs else 1.0
    return right(hypotheses, references) * forgiven


@impostor("bleu")
def ignores_capitals(right: Any, hypotheses: Any, references: Any) -> Any:
    """It takes *Fast* and *fast* for the same word.

    One survives: no word of yours differs from the reference's in its capital only.
    """
    return right(*([[word.lower() for word in row] for row in side] for side in (hypotheses, references)))


@impostor("bleu")
def drops_short_sentences(right: Any, hypotheses: Any, references: Any) -> Any:
    """It leaves out sentences of fewer than four words, which have no 4-grams but other n-grams.

    One survives: all your translations have four words or more.
    """
    kept = [(h, r) for h, r in zip(hypotheses, references, strict=True) if len(h) > 3]
    return right([h for h, _ in kept], [r for _, r in kept])


@impostor("bleu")
def sees_sets(right: Any, hypotheses: Any, references: Any) -> Any:
    """It reads each sentence as a set, and forgets that a word can come twice.

    One survives: no translation of yours says a word twice.
    """
    return right([list(dict.fromkeys(row)) for row in hypotheses], references)

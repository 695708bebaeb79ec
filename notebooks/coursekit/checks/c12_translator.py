"""Public checks of lab 12: the batch of the text, an emptied transformer, a model that says what it is told, BLEU by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coursekit.checks.api import close, ensure, equal, public_check

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
        ensure(part.dtype == torch.long, "the tensors should hold whole numbers: dtype torch.long")
    return result[0], result[1], result[2]


@public_check("make_batch")
def the_batch_of_the_text(make_batch: Any) -> None:
    """The two pairs of the text."""
    source, decoder_input, labels = _three(make_batch([([7, 8, 9], [5]), ([4], [6, 7])]))
    ensure(source.tolist() != [[7, 8, 9], [0, 0, 4]], "the padding comes after the sentence, not before it")
    close(source, [[7, 8, 9], [4, 0, 0]], "source should be [[7, 8, 9], [4, 0, 0]]")
    ensure(
        decoder_input.tolist() != labels.tolist(),
        "decoder_input and labels are the same: the answer stands in the question; decoder_input begins with BOS, labels end with EOS",
    )
    ensure(
        decoder_input.tolist() != [[1, 5, 2, 0], [1, 6, 7, 2]],
        "decoder_input should not hold EOS: nothing is to be said after it",
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
    for row, (_, target) in enumerate(pairs):
        equal(labels[row, : len(target)].tolist(), target, "labels should begin with the target's first word")
        equal(
            decoder_input[row, 1 : len(target) + 1].tolist(),
            target,
            "in decoder_input, the target should come after BOS",
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
    learned = [name for name, value in model.named_parameters() if value.requires_grad]
    extra = [name for name in learned if not name.startswith(parts)]
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
    for softmax, name in ((torch.log_softmax, "log-probabilities"), (torch.softmax, "probabilities")):
        ensure(
            not np.allclose(logits.detach()[0], softmax(torch.tensor(expected), -1), atol=1e-4),
            f"these are {name}; decode returns the logits: the loss and the search take the softmax themselves",
        )
    close(
        logits[0],
        expected,
        "the logits should be the decoder's output times target_embedding, transposed",
        atol=1e-4,
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
        self.rows, self.encoded, self.recorded = rows.log(), 0, False
        self.dropout = nn.Dropout(0.5)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        self.encoded += 1
        ensure(isinstance(source, Tensor) and source.dim() == 2, "encode wants the source as a tensor (1, S)")
        return torch.ones(len(source), source.shape[1], 4), (source != 0)[:, None]

    def decode(self, target: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        ensure(
            isinstance(target, Tensor) and target.dim() == 2, "decode wants the prefixes as a tensor (n, t)"
        )
        fits = len(memory) in (1, len(target)) and memory_mask.shape[1] == 1
        ensure(fits, "decode should get the memory and its mask as encode returned them, for all n prefixes")
        ensure(not self.training, "the model is still in training mode: call model.eval() first")
        self.recorded = self.recorded or torch.is_grad_enabled()
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
        "with beam = 2 the translation should be [4, 8], of probability .4 · .9 = .36 against .24",
    )


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
    equal(list(said), [5, 6, 5, 6, 5], "with max_length = 5 it should say 5 words")


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
    ensure(not model.recorded, "gradients are recorded while decoding: use torch.no_grad()")


# ---------------------------------------------------------------------------------------------------- bleu


@public_check("bleu")
def the_sentence_of_the_text(bleu: Any) -> None:
    """The sentence of the text: 54.75."""
    score = bleu([list("abcde")], [list("abcdfg")])
    ensure(score is not None, "your function returns None: does it end with a return?")
    for wrong, hint in (
        (66.874, "this is the value without the brevity penalty"),
        (0.5475, "multiply by 100"),
        (55.6055, "take the fourth root of the product of the precisions, not their mean"),
    ):
        ensure(abs(float(score) - wrong) > 0.006, f"{float(score):.4g}: {hint}")
    close(score, 54.7518, "the BLEU of the text's example should be 54.75", atol=1e-3)


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
    close(score, 90.9988, "two sentences: sum matches and totals over both, then divide", atol=1e-3)
    close(bleu([list("ab")], [list("ab")]), 0.0, "without any 3-gram the score is 0")


@public_check("bleu")
def one_brevity_and_capitals(bleu: Any) -> None:
    """One brevity penalty for the whole corpus; a capital makes another word."""
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

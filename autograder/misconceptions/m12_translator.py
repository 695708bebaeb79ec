"""Lab 12: wrong answers that students give, with their hints, and correct answers in other styles."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import torch
from coursekit.provided.p06_positions import sinusoidal
from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock
from coursekit.provided.p11_decoding import beam_search
from torch import nn

from autograder.answers import alternative, misconception

PAD, BOS, EOS = 0, 1, 2

# -------------------------------------------------------------------------------------------------- make_batch


def _filled(rows, *, left=False, width=0):
    width = max(width, *(len(row) for row in rows))
    return torch.tensor(
        [[PAD] * (width - len(row)) + row if left else row + [PAD] * (width - len(row)) for row in rows]
    )


def _sides(pairs):
    return [list(source) for source, _ in pairs], [list(target) for _, target in pairs]


@misconception("make_batch", title="given and wanted are not shifted")
def batch_without_a_shift(pairs):
    """What you give the decoder is what it should say: the answer stands in the question. It must get BOS first, and say at each place the
    word that it is given at the next one."""
    sources, targets = _sides(pairs)
    same = _filled([[*target, EOS] for target in targets])
    return _filled(sources), same, same.clone()


@misconception("make_batch", title="no end of the sentence")
def batch_without_eos(pairs):
    """Your wanted words never hold EOS, so the model would never learn to stop. It comes after the last word of each target."""
    sources, targets = _sides(pairs)
    given = _filled([[BOS, *target] for target in targets])
    return _filled(sources), given, _filled(targets, width=given.shape[1])


@misconception("make_batch", title="padding in front")
def batch_padded_on_the_left(pairs):
    """Your padding stands before the words. It belongs at the end: the first word has place 0 whatever the other sentences are."""
    sources, targets = _sides(pairs)
    return (
        _filled(sources, left=True),
        _filled([[BOS, *t] for t in targets], left=True),
        _filled([[*t, EOS] for t in targets], left=True),
    )


@misconception("make_batch", title="EOS behind the padding")
def batch_with_eos_at_the_very_end(pairs):
    """Your EOS stands in the last column, behind the padding. It belongs directly after each sentence's last word."""
    sources, targets = _sides(pairs)
    wanted = torch.cat([_filled(targets), torch.full((len(targets), 1), EOS)], dim=1)
    return _filled(sources), _filled([[BOS, *t] for t in targets]), wanted


@misconception("make_batch", title="EOS is given, too")
def batch_that_gives_eos(pairs):
    """You give the decoder EOS as well. Nothing is to be said after it, so given stops with the last word."""
    sources, targets = _sides(pairs)
    given = _filled([[BOS, *target, EOS] for target in targets])
    return _filled(sources), given, _filled([[*target, EOS] for target in targets], width=given.shape[1])


@misconception("make_batch", title="everything is cut to the shortest")
def batch_cut_to_the_shortest(pairs):
    """You cut all sentences to the length of the shortest one, so words are lost. Fill the short ones up instead."""
    sources, targets = _sides(pairs)

    def cut(rows):
        width = min(map(len, rows))
        return torch.tensor([row[:width] for row in rows])

    return cut(sources), cut([[BOS, *t] for t in targets]), cut([[*t, EOS] for t in targets])


@misconception("make_batch", title="the source is shifted, too")
def batch_with_a_framed_source(pairs):
    """Your source sentences carry BOS and EOS. Only the target needs them; the source is what the pair says."""
    sources, targets = _sides(pairs)
    return (
        _filled([[BOS, *s, EOS] for s in sources]),
        _filled([[BOS, *t] for t in targets]),
        _filled([[*t, EOS] for t in targets]),
    )


@alternative("make_batch")
def batch_by_pad_sequence(pairs):
    def pad(rows):
        return nn.utils.rnn.pad_sequence([torch.as_tensor(row) for row in rows], batch_first=True)

    sources, targets = _sides(pairs)
    return [pad(sources), pad([[BOS, *t] for t in targets]), pad([[*t, EOS] for t in targets])]


@alternative("make_batch", public=False)
def batch_cell_by_cell_in_int32(pairs):
    S, T = max(len(s) for s, _ in pairs), max(len(t) for _, t in pairs)
    source = np.zeros((len(pairs), S), dtype=np.int32)
    both = np.zeros((len(pairs), T + 2), dtype=np.int32)
    for row, (s, t) in enumerate(pairs):
        source[row, : len(s)] = s
        both[row, : len(t) + 2] = [BOS, *t, EOS]
    given = np.where(both == EOS, PAD, both)
    return tuple(torch.from_numpy(part.astype(np.int32)) for part in (source, given[:, :-1], both[:, 1:]))


# ------------------------------------------------------------------------------------------------- Transformer


class _Model(nn.Module):
    """The right answer, with a screw for each mistake."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__()
        self.root = math.sqrt(d_model)
        self.source_embedding = nn.Embedding(source_size, d_model)
        self.target_embedding = nn.Embedding(target_size, d_model)
        for table in (self.source_embedding, self.target_embedding):
            nn.init.normal_(table.weight, std=d_model**-0.5)
        self.encoder = nn.ModuleList(EncoderBlock(d_model, heads, d_ff, dropout) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderBlock(d_model, heads, d_ff, dropout) for _ in range(layers))

    def embed(self, numbers, table):
        return table(numbers) * self.root + self.places(numbers, table)

    def places(self, numbers, table):
        return torch.tensor(sinusoidal(numbers.shape[1], table.embedding_dim)).to(table.weight.dtype)

    def source_mask(self, source):
        return (source != PAD).unsqueeze(1)

    def so_far(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril()

    def encode(self, source):
        mask = self.source_mask(source)
        x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            x = block(x, mask)
        return x, mask

    def decode(self, target, memory, memory_mask):
        y = self.embed(target, self.target_embedding)
        for block in self.decoder:
            y = block(y, memory, self.so_far(target.shape[1]), memory_mask)
        return self.choose(y)

    def choose(self, y):
        return y @ self.target_embedding.weight.T

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


@misconception("Transformer", title="the embeddings are not scaled")
class TransformerWithoutTheRoot(_Model):
    """Your embeddings are not multiplied by √d_model. They start small, so next to the positions the words would hardly be heard."""

    def embed(self, numbers, table):
        return table(numbers) + self.places(numbers, table)


@misconception("Transformer", title="the root scales the positions, too")
class TransformerWithScaledPositions(_Model):
    """Your positions are multiplied by √d_model together with the words. Multiply the embedding first, then add the position."""

    def embed(self, numbers, table):
        return (table(numbers) + self.places(numbers, table)) * self.root


@misconception("Transformer", title="no positions")
class TransformerWithoutPositions(_Model):
    """Your words have no positions, so that the order of the words makes no difference to the encoder. Add sinusoidal(T, d_model)."""

    def embed(self, numbers, table):
        return table(numbers) * self.root


@misconception("Transformer", title="positions in the encoder only")
class TransformerWithPositionsInTheEncoder(_Model):
    """Your encoder knows its positions, your decoder does not. Both sides need them."""

    def embed(self, numbers, table):
        words = table(numbers) * self.root
        return words + self.places(numbers, table) if table is self.source_embedding else words


@misconception("Transformer", title="no causal mask")
class TransformerThatPeeks(_Model):
    """Your decoder hears the words that it is to say: there is no causal mask in its self-attention. In training it copies, and
    when it translates there is nothing to copy."""

    def so_far(self, T):
        return None


@misconception("Transformer", title="the causal mask is turned around")
class TransformerThatHearsTheFuture(_Model):
    """Your mask lets each word hear itself and what comes after it: the triangle is the wrong one. True means "may attend"."""

    def so_far(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu()


@misconception("Transformer", title="the encoder hears the padding")
class TransformerWhoseEncoderHearsPadding(_Model):
    """Your encoder's words listen to the padding, so that a sentence changes with the company it has in its batch. The blocks of the encoder
    need the mask, too."""

    def encode(self, source):
        x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            x = block(x)
        return x, self.source_mask(source)


@misconception("Transformer", title="the decoder hears the padding")
class TransformerWhoseDecoderHearsPadding(_Model):
    """Your German words listen to the English padding: cross-attention needs the memory mask."""

    def decode(self, target, memory, memory_mask):
        return super().decode(target, memory, None)


@misconception("Transformer", title="an output matrix of its own")
class TransformerThatIsNotTied(_Model):
    """Your model learns one more matrix of the German table's size, for the output. The German embedding does both jobs: the same table, not a copy that
    begins with the same numbers."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.output = nn.Linear(d_model, target_size, bias=False)

    def choose(self, y):
        return self.output(y)


@misconception("Transformer", title="the tied table is detached")
class TransformerThatIsHalfTied(_Model):
    """Your output uses the German table's numbers, but not the table: as an output it gets no gradient. Don't detach or copy it."""

    def choose(self, y):
        return y @ self.target_embedding.weight.detach().T


@misconception("Transformer", title="the same block in every layer")
class TransformerOfOneBlock(_Model):
    """Your layers are one block, used several times: [block] * layers repeats the same object. Build a new block for each layer."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.encoder = nn.ModuleList([EncoderBlock(d_model, heads, d_ff, dropout)] * layers)
        self.decoder = nn.ModuleList([DecoderBlock(d_model, heads, d_ff, dropout)] * layers)


@misconception("Transformer", title="always one layer")
class TransformerOfOneLayer(_Model):
    """Your encoder and your decoder have a single block each, whatever the argument layers says. Build as many as it says, each of them new."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, 1, dropout)


@misconception("Transformer", title="embeddings as large as PyTorch makes them")
class TransformerWithLoudEmbeddings(_Model):
    """Your embeddings start with standard deviation 1. Times √d_model they drown the positions, and the first logits are huge. Draw them
    with standard deviation 1/√d_model."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.source_embedding.reset_parameters()
        self.target_embedding.reset_parameters()


@misconception("Transformer", title="only the first block is used")
class TransformerOfFirstBlocks(_Model):
    """Only your first block works: each block gets the embeddings again instead of what the block before it said."""

    def encode(self, source):
        mask = self.source_mask(source)
        x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            out = block(x, mask)
        return out, mask


@misconception("Transformer", title="probabilities instead of logits")
class TransformerWithASoftmax(_Model):
    """Your model returns probabilities. The loss and the search do the softmax themselves; return the logits."""

    def choose(self, y):
        return super().choose(y).softmax(dim=-1)


@misconception("Transformer", title="the dropout is not passed on")
class TransformerWithoutDropout(_Model):
    """Your model takes a dropout and does nothing with it: pass it on to every block."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers)


@misconception("Transformer", title="the decoder's blocks get no dropout")
class DecoderWithoutDropout(_Model):
    """Your encoder's blocks get the dropout, your decoder's do not: each block takes (d_model, heads, d_ff, dropout)."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.decoder = nn.ModuleList(DecoderBlock(d_model, heads, d_ff) for _ in range(layers))


@misconception("Transformer", title="dropout on the embeddings, too")
class TransformerThatDropsWords(_Model):
    """Dropout acts on your embeddings as well, as in the paper. In this lab it happens in the blocks only: hand it on to them, and use it nowhere else."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.drop = nn.Dropout(dropout)

    def embed(self, numbers, table):
        return self.drop(super().embed(numbers, table))


@misconception("Transformer", title="dropout before the logits")
class TransformerThatDropsItsAnswer(_Model):
    """Dropout acts on what the decoder says, just before the logits. In this lab it happens in the blocks only."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.drop = nn.Dropout(dropout)

    def choose(self, y):
        return super().choose(self.drop(y))


@alternative("Transformer")
class TransformerWithATiedLinear(_Model):
    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.output = nn.Linear(d_model, target_size, bias=False)
        self.output.weight = self.target_embedding.weight

    def choose(self, y):
        return self.output(y)


@alternative("Transformer")
class TransformerWithFrozenPositions(_Model):
    """A table that is a parameter and is not learned."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.table = nn.Parameter(torch.tensor(sinusoidal(64, d_model)), requires_grad=False)

    def places(self, numbers, table):
        return self.table[: numbers.shape[1]].to(table.weight.dtype)


@alternative("Transformer")
class TransformerWithASinglePrecisionTable(_Model):
    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.register_buffer("table", torch.tensor(sinusoidal(64, d_model), dtype=torch.float32))

    def places(self, numbers, table):
        return self.table[: numbers.shape[1]]


@alternative("Transformer")
class TransformerWithFullMasks(_Model):
    """Masks of shape (B, T, T), with the target's padding masked, too, wherever a word is left to hear."""

    def decode(self, target, memory, memory_mask):
        B, T = target.shape
        y = self.embed(target, self.target_embedding)
        mask = self.so_far(T).expand(B, T, T)
        for block in self.decoder:
            y = block(y, memory, self_mask=mask, memory_mask=memory_mask.expand(B, T, -1))
        return nn.functional.linear(y, self.target_embedding.weight)


# --------------------------------------------------------------------------------------------------- translate


def _search(
    model, source, k, alpha, max_length, *, eval_first=True, place=-1, logs=True, twice=False, record=False
):
    """A beam over a model, with a screw for each mistake → tokens with EOS."""
    if eval_first:
        model.eval()
    source = torch.tensor([list(source)])
    with torch.set_grad_enabled(record):
        cached = model.encode(source)

    def step(prefixes):
        with torch.set_grad_enabled(record):
            memory, mask = model.encode(source) if twice else cached
            logits = model.decode(torch.tensor(prefixes), memory, mask)[:, place].detach().double()
        return (logits.log_softmax(-1) if logs else logits.softmax(-1)).numpy()

    return beam_search(step, k, alpha, BOS, EOS, max_length)[0][0]


def _words(tokens):
    return [token for token in tokens if token != EOS]


@misconception("translate", title="EOS stays in the translation")
def translate_with_eos(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation ends with EOS. It is a signal, not a word: leave it out."""
    return _search(model, source, beam, length_penalty, max_length)


@misconception("translate", title="BOS stays in the translation")
def translate_with_bos(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation begins with BOS. Return only what was said after it."""
    return [BOS, *_words(_search(model, source, beam, length_penalty, max_length))]


@misconception("translate", title="the encoder runs for every word")
def translate_without_a_cache(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation is right, but the encoder reads the same sentence again for each word. Let it run once, before the search."""
    return _words(_search(model, source, beam, length_penalty, max_length, twice=True))


@misconception("translate", title="always greedy")
def translate_greedily(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation does not change with the width of the beam: hand it on to the search."""
    return _words(_search(model, source, 1, length_penalty, max_length))


@misconception("translate", title="the length penalty is forgotten")
def translate_without_a_length_penalty(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation does not change with the length penalty: hand it on to the search."""
    return _words(_search(model, source, beam, 0.0, max_length))


@misconception("translate", title="max_length is forgotten")
def translate_without_an_end(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation is longer than max_length allows: hand it on to the search."""
    return _words(_search(model, source, beam, length_penalty, 40))


@misconception("translate", title="the first place instead of the last")
def translate_from_the_first_place(model, source, beam=1, length_penalty=0.0, max_length=40):
    """You read the next word from the logits of the first place, so it is always the same one. The last place has heard the whole prefix."""
    return _words(_search(model, source, beam, length_penalty, max_length, place=0))


@misconception("translate", title="probabilities instead of log-probabilities")
def translate_with_probabilities(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your step returns probabilities. The search adds up what it gets, so it needs their logarithms."""
    return _words(_search(model, source, beam, length_penalty, max_length, logs=False))


@misconception("translate", title="the model stays in training mode")
def translate_while_training(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your model may still be in training mode, where dropout throws parts of it away, so that each run can say something else. Call model.eval()."""
    return _words(_search(model, source, beam, length_penalty, max_length, eval_first=False))


@misconception("translate", title="gradients are recorded")
def translate_with_gradients(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation is right, but PyTorch records every step for a backward pass that never comes. Use torch.no_grad()."""
    return _words(_search(model, source, beam, length_penalty, max_length, record=True))


@alternative("translate")
def translate_in_single_precision(model, source, beam=1, length_penalty=0.0, max_length=40):
    model = model.eval()
    with torch.inference_mode():
        memory, mask = model.encode(torch.tensor([source]))

        def step(prefixes):
            n = len(prefixes)
            logits = model.decode(torch.tensor(prefixes), memory.repeat(n, 1, 1), mask.repeat(n, 1, 1))
            return torch.log_softmax(logits[:, -1].float(), -1).numpy()

        best = beam_search(step, beam, length_penalty, BOS, EOS, max_length)[0][0]
    return np.array(best[: best.index(EOS)] if EOS in best else best, dtype=int)


@alternative("translate")
def translate_with_a_beam_of_its_own(model, source, beam=1, length_penalty=0.0, max_length=40):
    model.eval()
    hypotheses = [((), 0.0)]
    with torch.no_grad():
        memory, mask = model.encode(torch.tensor([source]))
        for _ in range(max_length):
            grown = []
            for said, total in hypotheses:
                if said[-1:] == (EOS,):
                    grown.append((said, total))
                    continue
                logits = model.decode(torch.tensor([[BOS, *said]]), memory, mask)[0, -1].double()
                rows = torch.log_softmax(logits, -1).tolist()
                grown += [((*said, word), total + row) for word, row in enumerate(rows)]
            grown.sort(key=lambda one: one[1] / len(one[0]) ** length_penalty, reverse=True)
            hypotheses = grown[:beam]
    return tuple(word for word in hypotheses[0][0] if word != EOS)


# -------------------------------------------------------------------------------------------------------- bleu


def _n_grams(words, n):
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _counts(hypotheses, references, n, clip=True):
    matches = total = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        found, known = _n_grams(hypothesis, n), _n_grams(reference, n)
        matches += sum((found & known).values()) if clip else sum(c for g, c in found.items() if g in known)
        total += sum(found.values())
    return matches, total


def _precisions(hypotheses, references, clip=True):
    pairs = [_counts(hypotheses, references, n, clip) for n in (1, 2, 3, 4)]
    return [matches / total if total else 0.0 for matches, total in pairs]


def _brevity(hypotheses, references):
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    return 1.0 if c >= r else math.exp(1 - r / c) if c else 0.0


def _geometric(precisions):
    return math.prod(precisions) ** (1 / len(precisions))


@misconception("bleu", title="matches are not clipped")
def bleu_without_clipping(hypotheses, references):
    """Your n-grams count as often as the translation says them, so that saying a frequent word again and again pays. Each counts at most as
    often as its reference has it."""
    return (
        100 * _brevity(hypotheses, references) * _geometric(_precisions(hypotheses, references, clip=False))
    )


@misconception("bleu", title="no brevity penalty")
def bleu_without_brevity(hypotheses, references):
    """Your score lacks the brevity penalty, so that short translations get away with saying only what is sure."""
    return 100 * _geometric(_precisions(hypotheses, references))


def _lengths(hypotheses, references):
    return sum(map(len, hypotheses)), sum(map(len, references))


@misconception("bleu", title="long translations are rewarded")
def bleu_that_rewards_length(hypotheses, references):
    """Your brevity penalty has no ceiling: when the translations have more words than the references, e to the power 1 − r/c is above 1, and the score goes
    up with every word too many (even above 100). It is 1 when c ≥ r."""
    c, r = _lengths(hypotheses, references)
    return 100 * math.exp(1 - r / c) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="long translations are punished, too")
def bleu_that_punishes_length(hypotheses, references):
    """Your brevity penalty lowers the score of long translations as well. It is 1 when c ≥ r: words that are too many have already cost precision."""
    c, r = _lengths(hypotheses, references)
    return 100 * math.exp(1 - max(c, r) / min(c, r)) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="short translations are rewarded")
def bleu_that_rewards_brevity(hypotheses, references):
    """Your brevity penalty is above 1 when the translations are too short, so that leaving words out pays: c and r are exchanged in the fraction. The exponent
    1 − r/c is negative when c < r."""
    c, r = _lengths(hypotheses, references)
    return 100 * math.exp(max(0.0, 1 - c / r)) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="the ratio of the lengths for a brevity penalty")
def bleu_with_a_plain_ratio(hypotheses, references):
    """Your brevity penalty is the plain ratio c/r. It is e to the power 1 − r/c."""
    c, r = _lengths(hypotheses, references)
    return 100 * min(1.0, c / r) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="c and r exchanged")
def bleu_with_exchanged_lengths(hypotheses, references):
    """Your brevity penalty punishes the long translations and spares the short ones: c and r are exchanged."""
    return 100 * _brevity(references, hypotheses) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="the mean of the sentences' scores")
def bleu_sentence_by_sentence(hypotheses, references):
    """You score each sentence and take the mean. BLEU sums matches and totals over the whole corpus first, and divides then."""
    scores = [
        100 * _brevity([h], [r]) * _geometric(_precisions([h], [r]))
        for h, r in zip(hypotheses, references, strict=True)
    ]
    return sum(scores) / len(scores)


@misconception("bleu", title="a brevity penalty for each sentence")
def bleu_with_a_brevity_for_each(hypotheses, references):
    """Your brevity penalty is taken sentence by sentence. The lengths are summed over the corpus first: one short sentence may be made
    good by a long one."""
    each = [_brevity([h], [r]) for h, r in zip(hypotheses, references, strict=True)]
    return 100 * sum(each) / len(each) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="the mean instead of the fourth root")
def bleu_with_an_arithmetic_mean(hypotheses, references):
    """You take the mean of the four precisions. BLEU takes the fourth root of their product, so that no n may be bad."""
    return 100 * _brevity(hypotheses, references) * sum(_precisions(hypotheses, references)) / 4


@misconception("bleu", title="a number from 0 to 1")
def bleu_up_to_one(hypotheses, references):
    """Your score goes from 0 to 1. BLEU is given from 0 to 100."""
    return _brevity(hypotheses, references) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="lower-cased words")
def bleu_of_lower_case(hypotheses, references):
    """You lower-case the words. They are compared as they are: in German a capital matters."""
    lower = [[[word.lower() for word in words] for words in side] for side in (hypotheses, references)]
    return 100 * _brevity(*lower) * _geometric(_precisions(*lower))


@misconception("bleu", title="trigrams are the longest")
def bleu_up_to_three(hypotheses, references):
    """Your n-grams stop at three. BLEU goes up to four: range(1, 4) ends before 4."""
    return 100 * _brevity(hypotheses, references) * _geometric(_precisions(hypotheses, references)[:3])


@misconception("bleu", title="an n without n-grams is left out")
def bleu_of_the_lengths_that_are_there(hypotheses, references):
    """When no translation is long enough for n-grams of some length, you leave that n out of the mean. BLEU is 0 then: there is nothing that could match."""
    pairs = [_counts(hypotheses, references, n) for n in (1, 2, 3, 4)]
    there = [matches / total for matches, total in pairs if total]
    return 100 * _brevity(hypotheses, references) * (_geometric(there) if there else 0.0)


@alternative("bleu")
def bleu_by_joined_sums(hypotheses, references):
    return 100 * _brevity(hypotheses, references) * _geometric(_precisions(hypotheses, references))


@alternative("bleu")
def bleu_with_lists_and_numpy(hypotheses, references):
    matches, totals = np.zeros(4), np.zeros(4)
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        for n in range(1, 5):
            left = [reference[i : i + n] for i in range(len(reference) - n + 1)]
            for i in range(len(hypothesis) - n + 1):
                totals[n - 1] += 1
                if hypothesis[i : i + n] in left:
                    left.remove(hypothesis[i : i + n])
                    matches[n - 1] += 1
    if not matches.all():
        return np.float64(0)
    ratio = sum(map(len, references)) / sum(map(len, hypotheses))
    return 100 * np.exp(np.log(matches / totals).mean() + min(1 - ratio, 0))

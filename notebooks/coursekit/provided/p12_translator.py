"""What lab 12 taught, for lab 13 and the translator on real data: the transformer, its batches, translating, BLEU."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from coursekit.data.vocabulary import BOS, EOS, PAD, Batch, Pair
from coursekit.provided.p06_positions import sinusoidal
from coursekit.provided.p07_self_attention import causal_mask
from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock
from coursekit.provided.p10_training import shift_targets
from coursekit.provided.p11_decoding import beam_search

#: The longest sentence, in tokens, that lab 12's table of positions holds.
LONGEST = 64


def make_batch(pairs: Sequence[Pair]) -> Batch:
    """[(source, target), …] → source (B, S), decoder_input and labels (B, T + 1), padded at the end."""
    sources = [torch.tensor(source) for source, _ in pairs]
    decoder_input, labels = shift_targets([target for _, target in pairs], BOS, EOS, PAD)
    return nn.utils.rnn.pad_sequence(sources, batch_first=True, padding_value=PAD), decoder_input, labels


class Transformer(nn.Module):
    """Encoder and decoder with sinusoidal positions and tied output weights (Vaswani et al. 2017)."""

    def __init__(
        self,
        source_size: int,
        target_size: int,
        d_model: int,
        heads: int,
        d_ff: int,
        layers: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.source_embedding = nn.Embedding(source_size, d_model)
        self.target_embedding = nn.Embedding(target_size, d_model)
        nn.init.normal_(self.source_embedding.weight, std=d_model**-0.5)
        nn.init.normal_(self.target_embedding.weight, std=d_model**-0.5)
        sizes = (d_model, heads, d_ff, dropout)
        self.encoder = nn.ModuleList([EncoderBlock(*sizes) for _ in range(layers)])
        self.decoder = nn.ModuleList([DecoderBlock(*sizes) for _ in range(layers)])
        self.positions: Tensor
        table = torch.from_numpy(sinusoidal(LONGEST, d_model))
        self.register_buffer("positions", table, persistent=False)

    def _embedded(self, table: nn.Embedding, words: Tensor) -> Tensor:
        """words (B, T) → (B, T, d_model): √d_model times the embedding, plus the position."""
        x: Tensor = table(words) * table.embedding_dim**0.5
        return x + self.positions[: words.shape[1]].to(x)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """source (B, S) → memory (B, S, d_model), memory_mask (B, 1, S)."""
        memory_mask = source.ne(PAD)[:, None, :]
        memory = self._embedded(self.source_embedding, source)
        for block in self.encoder:
            memory = block(memory, memory_mask)
        return memory, memory_mask

    def decode(self, target: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """target (B, T), and what encode returned → logits (B, T, target_size)."""
        y = self._embedded(self.target_embedding, target)
        for block in self.decoder:
            y = block(y, memory, causal_mask(target.shape[1]).to(y.device), memory_mask)
        return nn.functional.linear(y, self.target_embedding.weight)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """source (B, S), target (B, T) → logits (B, T, target_size)."""
        memory, memory_mask = self.encode(source)
        return self.decode(target, memory, memory_mask)


@torch.no_grad()
def translate(
    model: nn.Module,
    source: Sequence[int],
    beam: int = 1,
    length_penalty: float = 0.0,
    max_length: int = 40,
) -> list[int]:
    """One sentence of token numbers → the best translation that a beam finds; the encoder runs once."""
    memory, memory_mask = model.eval().encode(torch.tensor([source]))  # type: ignore[operator]

    def step(prefixes: Sequence[Sequence[int]]) -> Tensor:
        last = model.decode(torch.tensor(prefixes), memory, memory_mask)[:, -1]  # type: ignore[operator]
        return torch.log_softmax(last.double(), dim=-1)

    best, _ = beam_search(step, beam, length_penalty, BOS, EOS, max_length)[0]
    return best[:-1] if best[-1:] == [EOS] else best


def bleu(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Corpus BLEU of lists of words, 0 to 100 (Papineni et al. 2002), by sacreBLEU."""
    import sacrebleu

    translations = [" ".join(words) for words in hypotheses]
    right = [[" ".join(words) for words in references]]
    how = {"tokenize": "none", "smooth_method": "none", "force": True}
    return float(sacrebleu.corpus_bleu(translations, right, **how).score)

"""Two small models that learn to reverse a sequence: a recurrent one that aligns and translates, and a transformer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from coursekit.provided.p06_positions import sinusoidal
from coursekit.provided.p07_self_attention import causal_mask

#: Word numbers: ``<pad>``, ``<bos>``, ``<eos>``; the letters follow.
PAD, BOS, EOS, LETTERS = 0, 1, 2, 20
V = 3 + LETTERS


def sequences(count: int, shortest: int, longest: int, generator: torch.Generator) -> list[list[int]]:
    """Random sequences of letters, each of a random length between ``shortest`` and ``longest``."""
    lengths = torch.randint(shortest, longest + 1, (count,), generator=generator).tolist()
    return [torch.randint(3, V, (length,), generator=generator).tolist() for length in lengths]


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Lists of numbers as one rectangle (B, T), filled up with ``PAD``."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])


class AlignAndTranslate(nn.Module):
    """Bahdanau, Cho and Bengio 2015: a recurrent encoder and decoder with additive attention between them."""

    def __init__(self, size: int = 64):
        super().__init__()
        self.embedding = nn.Embedding(V, size)
        self.encoder = nn.GRU(size, size // 2, batch_first=True, bidirectional=True)
        self.cell = nn.GRUCell(2 * size, size)
        self.W_q, self.W_k = nn.Linear(size, size, bias=False), nn.Linear(size, size)
        self.w = nn.Linear(size, 1, bias=False)
        self.out = nn.Linear(2 * size, V)

    def forward(self, source: Tensor, decoder_input: Tensor) -> Tensor:
        """source (B, S), decoder_input (B, T) → logits (B, T, V); the T positions are computed one after another."""
        real = source != PAD
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(source), real.sum(1), batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(
            self.encoder(packed)[0], batch_first=True, total_length=source.shape[1]
        )
        keys, words, outputs = self.W_k(states), self.embedding(decoder_input), []
        state = states.new_zeros(len(source), keys.shape[-1])
        for t in range(decoder_input.shape[1]):
            scores = self.w(torch.tanh(self.W_q(state)[:, None] + keys)).squeeze(-1)  # (B, S)
            weights = scores.masked_fill(~real, -torch.inf).softmax(-1)
            context = torch.einsum("bs,bsd->bd", weights, states)
            state = self.cell(torch.cat([words[:, t], context], -1), state)
            outputs.append(torch.cat([state, context], -1))
        logits: Tensor = self.out(torch.stack(outputs, 1))
        return logits


class SmallTransformer(nn.Module):
    """One encoder block and one decoder block (any two classes with lab 09's signatures) around sinusoidal positions."""

    def __init__(
        self, EncoderBlock: Callable[..., nn.Module], DecoderBlock: Callable[..., nn.Module], size: int = 64
    ):
        super().__init__()
        self.letters = nn.Embedding(V, size)
        self.encoder = EncoderBlock(size, 4, size)
        self.decoder = DecoderBlock(size, 4, size)
        self.out = nn.Linear(size, V)
        self.places = torch.as_tensor(sinusoidal(128, size), dtype=torch.float32)

    def _placed(self, numbers: Tensor) -> Tensor:
        placed: Tensor = self.letters(numbers) + self.places[: numbers.shape[1]]
        return placed

    def forward(self, source: Tensor, decoder_input: Tensor) -> Tensor:
        """source (B, S), decoder_input (B, T) → logits (B, T, V); all positions at once."""
        real = (source != PAD)[:, None, :]
        memory = self.encoder(self._placed(source), real)
        heard = self.decoder(self._placed(decoder_input), memory, causal_mask(decoder_input.shape[1]), real)
        logits: Tensor = self.out(heard)
        return logits

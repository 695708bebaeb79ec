"""Training steps as CUDA graphs: a GPU that is told once what to do, and then only to do it again.

A step of lab 12's translator is some hundreds of small kernels, and Python needs longer to ask for them than a GPU for
the work. A graph asks for all of them at once. It holds for one shape of batch, so it pays where shapes are few.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from coursekit.data.vocabulary import Batch
from coursekit.errors import UserError

__all__ = ["Step", "recorded", "recorded_on_gpu"]

#: A batch → its loss before the step, which has been taken, or is under way.
Step = Callable[[Batch], Tensor]
#: A step and a batch → what takes the step again, on what is then in that batch, and where the loss is left.
Record = Callable[[Step, Batch], tuple[Callable[[], None], Tensor]]


def recorded(step: Step, record: Record) -> Step:
    """The ``step``, recorded when a shape of batch comes for the second time, and replayed from then on.

    The first time it runs as it is written, so that what PyTorch makes when it is needed is there before it is recorded.
    """
    known: dict[torch.Size, tuple[Batch, Callable[[], None], Tensor] | None] = {}

    def take(batch: Batch) -> Tensor:
        source, decoder_input, labels = batch
        shape = source.shape + labels.shape
        if shape not in known:
            known[shape] = None
            return step(batch)
        held = known[shape]
        if held is None:
            inputs = (source.clone(), decoder_input.clone(), labels.clone())
            held = known[shape] = (inputs, *record(step, inputs))
        inputs, replay, loss = held
        for own, given in zip(inputs, batch, strict=True):
            own.copy_(given)
        replay()
        return loss.clone()

    return take


def recorded_on_gpu(step: Step) -> Step:
    """The ``step`` recorded as CUDA graphs, which share their memory; from now on this thread has a stream of its own.

    (On the default stream nothing can be recorded.) A shape that cannot be recorded is a UserError.
    """
    stream, pool = torch.cuda.Stream(), torch.cuda.graph_pool_handle()
    stream.wait_stream(torch.cuda.current_stream())
    torch.cuda.set_stream(stream)

    def record(step: Step, batch: Batch) -> tuple[Callable[[], None], Tensor]:
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=pool, stream=stream):
                loss = step(batch)
        except RuntimeError as error:
            raise UserError(f"This GPU does not record the step: train with --no-graphs ({error}).") from None
        return graph.replay, loss

    return recorded(step, record)

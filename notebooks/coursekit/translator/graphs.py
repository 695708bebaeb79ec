"""Training steps as CUDA graphs: the work of a step is recorded once and then replayed on the GPU.

A step of lab 12's translator launches some hundreds of small kernels, and Python takes longer to launch them than a GPU to
run them. A graph launches all at once. It is valid for one shape of batch, so it pays off if there are few shapes.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from coursekit.data.vocabulary import Batch
from coursekit.errors import UserError

__all__ = ["Step", "recorded", "recorded_on_gpu"]

#: A batch → its loss before the step. The step has been taken, or is under way on the GPU.
Step = Callable[[Batch], Tensor]
#: A step and a batch → a function that repeats the step on the batch's current content, and the tensor of the loss.
Record = Callable[[Step, Batch], tuple[Callable[[], None], Tensor]]


def recorded(step: Step, record: Record) -> Step:
    """The ``step``, recorded when a shape of batch occurs for the second time, and replayed from then on.

    The first time it runs normally, so that objects that PyTorch makes on first use exist before the recording.
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
    """The ``step`` recorded as CUDA graphs, which share their memory. From now on this thread has its own stream.

    (Recording is impossible on the default stream.) Raises UserError for a shape that cannot be recorded.
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

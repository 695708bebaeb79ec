"""Lab 08, attention_maps: runs model(*inputs) once → {name: weights (B, h, Tq, Tk)} of each MultiHeadAttention inside."""

import torch

from autograder.questions.engine import Observed, Question
from autograder.questions.m08_multi_head.common import ROUNDED, some_mask, tensor


def is_attention(module):
    return type(module).__name__ == "MultiHeadAttention"


def by_listening_in(model, *inputs):
    """Each layer's forward is replaced by one that notes what comes out, and put back afterwards."""
    maps, found = {}, {name: module for name, module in model.named_modules() if is_attention(module)}
    for name, module in found.items():

        def forward(*args, _name=name, _forward=module.forward, **options):
            output, weights = _forward(*args, **options)
            maps[_name] = weights.detach().clone()
            return output, weights

        module.forward = forward
    model(*inputs)
    for module in found.values():
        del module.forward
    return maps


question = Question(by_listening_in, uses=("split_heads", "merge_heads", "MultiHeadAttention"))

# The weights depend on their names only, for a layer's parts may come in any order, and have a second name.
MODELS = """
import zlib

import torch
from torch import nn
from torch.nn.modules import module as everywhere

MultiHeadAttention = student_namespace["MultiHeadAttention"]


class Block(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.norm, self.attention, self.linear = nn.LayerNorm(12), MultiHeadAttention(12, h), nn.Linear(12, 12)

    def forward(self, x, memory=None, mask=None):
        return x + self.linear(self.attention(self.norm(x), memory, mask)[0])


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.cross = nn.ModuleList([Block(2), Block(3)]), Block(4)

    def forward(self, x, memory, mask):
        x = x * loudness()
        for block in self.blocks:
            x = block(x, mask=mask)
        return self.cross(x, memory)


model = {"stack": Stack, "block": lambda: Block(2), "layer": lambda: MultiHeadAttention(12, 3)}[kind]().double()
with torch.no_grad():
    for name, weight in model.state_dict().items():
        if "W_" in name or "linear" in name:
            draw = torch.Generator().manual_seed(seed + zlib.crc32(name.encode()))
            weight.copy_(torch.randn(weight.shape, generator=draw) / 3)
"""


NAMES = ("blocks.0.attention", "blocks.1.attention", "cross.attention")


def a_model(student, rng, kind, loudness=lambda: 1.0):
    return student.scene(MODELS, kind=kind, seed=int(rng.integers(1 << 30)), loudness=loudness)


def words(rng):
    """What a stack is given: a sentence, a memory, and no mask."""
    return tensor(rng, 2, 5, 12), tensor(rng, 2, 3, 12), None


@question.scenario("The map of a model's only layer is found, whatever name it comes under.", weight=2)
def an_only_layer(student, rng):
    # Twelve words: where a hook has put the weights in the place of the output, the model runs on.
    maps = student(a_model(student, rng, "block")["model"], tensor(rng, 2, 12, 12))
    yield Observed("the only map", maps.get("attention", [*maps.values()][-1]), **ROUNDED)


@question.scenario(
    "Layers deep inside a model, with a mask and a memory: each has its map under its name.", weight=1.5
)
def every_layer(student, rng):
    x, memory, _ = words(rng)
    maps = student(a_model(student, rng, "stack")["model"], x, memory, some_mask(rng, 5, 5))
    for name in NAMES:
        yield Observed(f"the map of {name}", maps.get(name), **ROUNDED)


@question.scenario("A single layer is its own model, whose name is empty; there is no other map.")
def a_layer_alone(student, rng):
    maps = student(a_model(student, rng, "layer")["model"], tensor(rng, 2, 4, 12))
    yield Observed("the maps", maps, **ROUNDED)


@question.scenario(
    "The model runs once for each call; the maps are that run's, cut off from the gradient.", weight=2.5
)
def each_run(student, rng):
    runs = []
    scene = a_model(student, rng, "stack", lambda: len(runs.append("a run") or runs) / 2)
    for _ in range(2):
        yield Observed("the maps of a run", student(scene["model"], *words(rng)), **ROUNDED)
    scene.run("maps = student_namespace[question](model, *inputs)", question=student.name, inputs=words(rng))
    scene.run("hang = sum(bool(getattr(part, 'requires_grad', False)) for part in maps.values())")
    yield Observed("maps that hang on the gradient", scene["hang"])
    yield Observed("runs of the model", len(runs))


# All kinds of hooks, at each module and those that hold everywhere; and what a module runs, its own or its class's.
AS_IT_IS = """
def hooks():
    kinds = [name for name in vars(nn.Module()) if name.endswith("_hooks")]
    found = [hook for part in model.modules() for kind in kinds for hook in getattr(part, kind).values()]
    kinds = [name for name in vars(everywhere) if name.startswith("_global_") and name.endswith("_hooks")]
    return found + [hook for kind in kinds for hook in getattr(everywhere, kind).values()]


def what_runs():
    return [part for module in model.modules() for part in (module.forward, type(module).__call__)]


def only_in(some, others):
    return sum(not any(one is other for other in others) for one in some)


model.train(training)
model.cross.train(not training)
for module in model.modules():
    module.register_forward_hook(lambda *_: None)
    module.register_forward_pre_hook(lambda *_: None)
before, ran = hooks(), what_runs()
"""
AS_IT_WAS = """
left, gone, same = only_in(hooks(), before), only_in(before, hooks()), what_runs() == ran
modes = [module.training for module in (model, *model.blocks, model.cross)]
learn = {weight.requires_grad for weight in model.parameters()}
"""


@question.scenario(
    "The model is left as it was: no hook more or less, its forward, its mode, what it can learn.", weight=3
)
def as_it_was(student, rng):
    for training in (True, False):
        scene = a_model(student, rng, "stack")
        scene.run(AS_IT_IS, training=training)
        maps = student(scene["model"], *words(rng))
        yield Observed("the layers that have a map", [name in maps for name in NAMES])
        scene.run(AS_IT_WAS)
        yield Observed("how many hooks are left behind", scene["left"])
        yield Observed("how many hooks that were there are gone", scene["gone"])
        yield Observed("each module runs what it ran", scene["same"])
        yield Observed("whether the model and each block are in training mode", scene["modes"])
        yield Observed("who learns", scene["learn"])


def with_hooks(
    model, inputs, keep=lambda output: output[1].detach(), remove=lambda handles: handles, pairs=None
):
    maps, handles = {}, []
    for name, module in pairs or model.named_modules():
        if is_attention(module):
            hook = lambda module, given, output, name=name: maps.update({name: keep(output)})  # noqa: E731
            handles.append(module.register_forward_hook(hook))
    model(*inputs)
    for handle in remove(handles):
        handle.remove()
    return maps


@question.misconception("outputs instead of weights", costs=2.5)
def maps_of_outputs(model, *inputs):
    """You collected what the layers say, not what they listen to: the output of such a layer is a pair, and the weights are its second part."""
    return with_hooks(model, inputs, lambda output: output[0].detach())


@question.misconception("maps averaged over the heads", costs=2)
def maps_averaged(model, *inputs):
    """Your maps are averaged over the heads. The heads listen to different things; keep them apart: (B, h, T_q, T_k)."""
    return with_hooks(model, inputs, lambda output: output[1].detach().mean(dim=1))


@question.misconception("maps that hang on the gradient", costs=1.5)
def maps_not_detached(model, *inputs):
    """The maps are right, but they still belong to the graph of the gradient and keep the whole forward pass in memory: detach them."""
    return with_hooks(model, inputs, lambda output: output[1])


@question.misconception("hooks left on the model", costs=1.5)
def maps_with_hooks_left(model, *inputs):
    """The maps are right, but your hooks stay on the model and will run at every later forward pass. Keep the handles, and call
    remove() on each."""
    return with_hooks(model, inputs, remove=lambda handles: [])


@question.misconception("the model stays in evaluation mode", costs=1.5)
def maps_in_evaluation_mode(model, *inputs):
    """The maps are right, but your function puts the model into evaluation mode and leaves it there: the training that goes on afterwards has
    lost its dropout. Leave the mode alone, or put it back."""
    model.eval()
    return with_hooks(model, inputs)


@question.misconception("the model runs twice", costs=1.25)
def maps_of_two_runs(model, *inputs):
    """The maps are right, but your function runs the model twice, which costs twice the time. Once, with the hooks in place, is enough."""
    model(*inputs)
    return with_hooks(model, inputs)


@question.misconception("the name of the loop's last module", costs=2)
def maps_under_one_name(model, *inputs):
    """There is one map in your result, under the name of the model's last part. The function that you made in the loop looks its
    name up when it is called, and by then the loop is over: let it keep the name, def note(…, name=name)."""
    names = [name for name, _ in model.named_modules()]
    return {names[-1]: list(with_hooks(model, inputs).values())[-1]}


@question.misconception("only the direct children are searched", costs=2)
def maps_of_children(model, *inputs):
    """You look at the direct children of the model only; layers that sit deeper, in a block or a list, are missed.
    named_modules() goes all the way down, and includes the model itself."""
    return with_hooks(model, inputs, pairs=model.named_children())


@question.alternative
def maps_by_a_hook_for_all_modules(model, *inputs):
    names, maps = {module: name for name, module in model.named_modules()}, {}

    def note(module, given, output):
        if is_attention(module):
            maps[names[module]] = output[1].detach()

    handle = torch.nn.modules.module.register_module_forward_hook(note)
    model(*inputs)
    handle.remove()
    return maps


@question.alternative
def maps_in_single_precision(model, *inputs):
    with torch.no_grad():
        maps = with_hooks(model, inputs, lambda output: output[1].clone().float())
    return dict(reversed(maps.items()))

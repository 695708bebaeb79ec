"""Lab 08, ``attention_maps``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import torch

from autograder.testing import alternative, misconception


def _is_attention(module):
    return type(module).__name__ == "MultiHeadAttention"


def _run_with_hooks(model, inputs, keep, remove=True):
    maps, handles = {}, []
    for name, module in model.named_modules():
        if _is_attention(module):
            hook = lambda module, given, output, name=name: maps.update({name: keep(output)})  # noqa: E731
            handles.append(module.register_forward_hook(hook))
    model(*inputs)
    for handle in handles if remove else ():
        handle.remove()
    return maps


@misconception("attention_maps", title="outputs instead of weights")
def maps_of_outputs(model, *inputs):
    """You collected what the layers say, not what they listen to: the output of such a layer is a pair, and the weights are its second part."""
    return _run_with_hooks(model, inputs, lambda output: output[0].detach())


@misconception("attention_maps", title="hooks left on the model", keeps="the maps are right; the hooks stay")
def maps_with_hooks_left(model, *inputs):
    """The maps are right, but your hooks stay on the model and will run at every later forward pass. Keep the handles, and call
    remove() on each."""
    return _run_with_hooks(model, inputs, lambda output: output[1].detach(), remove=False)


@misconception(
    "attention_maps",
    title="the model stays in evaluation mode",
    keeps="the maps are right; the mode is changed",
)
def maps_in_evaluation_mode(model, *inputs):
    """The maps are right, but your function puts the model into evaluation mode and leaves it there: the training that goes on afterwards has lost its dropout.
    Leave the mode alone, or put it back."""
    model.eval()
    return _run_with_hooks(model, inputs, lambda output: output[1].detach())


@misconception(
    "attention_maps", title="the model learns no more", keeps="the maps are right; the model is frozen"
)
def maps_of_a_frozen_model(model, *inputs):
    """The maps are right, but your function switches the gradients of the model's weights off, and it can't learn any more. Detach the maps instead."""
    for weight in model.parameters():
        weight.requires_grad_(False)
    return _run_with_hooks(model, inputs, lambda output: output[1])


@misconception(
    "attention_maps", title="the model runs twice", keeps="the maps are right; the work is done twice"
)
def maps_of_two_runs(model, *inputs):
    """The maps are right, but your function runs the model twice, which costs twice the time. Once, with the hooks in place, is enough."""
    model(*inputs)
    return _run_with_hooks(model, inputs, lambda output: output[1].detach())


@misconception(
    "attention_maps", title="maps that hang on the gradient", keeps="the maps are right; memory is wasted"
)
def maps_not_detached(model, *inputs):
    """The maps are right, but they still belong to the graph of the gradient and keep the whole forward pass in memory: detach them."""
    return _run_with_hooks(model, inputs, lambda output: output[1])


@misconception("attention_maps", title="maps averaged over the heads")
def maps_averaged(model, *inputs):
    """Your maps are averaged over the heads. The heads listen to different things; keep them apart: (B, h, T_q, T_k)."""
    return _run_with_hooks(model, inputs, lambda output: output[1].detach().mean(dim=1))


@misconception("attention_maps", title="only the last layer is found")
def maps_of_the_last_layer(model, *inputs):
    """Only one layer is in your result, with the last name. The function that you made in the loop looks its name up when it is
    called, and by then the loop is over: let it keep the name, note(…, name=name)."""
    maps, handles = {}, []
    last = [name for name, module in model.named_modules() if _is_attention(module)][-1]
    for module in filter(_is_attention, model.modules()):
        hook = lambda module, given, output: maps.update({last: output[1].detach()})  # noqa: E731
        handles.append(module.register_forward_hook(hook))
    model(*inputs)
    for handle in handles:
        handle.remove()
    return maps


@misconception("attention_maps", title="the name of the loop's last module")
def maps_under_the_loops_last_name(model, *inputs):
    """There is one map in your result, under the name of the model's last part. The function that you made in the loop looks its
    name up when it is called, and by then the loop is over: let it keep the name, def note(…, name=name)."""
    maps, handles = {}, []
    for name, module in model.named_modules():
        if _is_attention(module):
            hook = lambda module, given, output: maps.update({name: output[1].detach()})  # noqa: B023, E731
            handles.append(module.register_forward_hook(hook))
    model(*inputs)
    for handle in handles:
        handle.remove()
    return maps


@misconception("attention_maps", title="only the direct children are searched")
def maps_of_children(model, *inputs):
    """You look at the direct children of the model only; layers that sit deeper, in a block or a list, are missed.
    named_modules() goes all the way down, and includes the model itself."""
    maps, handles = {}, []
    for name, module in model.named_children():
        if _is_attention(module):
            hook = lambda module, given, output, name=name: maps.update({name: output[1].detach()})  # noqa: E731
            handles.append(module.register_forward_hook(hook))
    model(*inputs)
    for handle in handles:
        handle.remove()
    return maps


@alternative("attention_maps")
def maps_by_replacing_forward(model, *inputs):
    maps, found = {}, {name: m for name, m in model.named_modules() if _is_attention(m)}
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


@alternative("attention_maps")
def maps_by_a_factory_in_single_precision(model, *inputs):
    maps = {}

    def remember(name):
        def note(module, given, output):
            maps[name] = output[1].detach().clone().float()

        return note

    handles = [
        m.register_forward_hook(remember(name)) for name, m in model.named_modules() if _is_attention(m)
    ]
    with torch.no_grad():
        model(*inputs)
    [handle.remove() for handle in handles]
    return dict(reversed(maps.items()))

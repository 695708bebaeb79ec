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


@misconception(
    "attention_maps", title="only the last hook is removed", keeps="the maps are right; hooks stay"
)
def maps_with_one_hook_removed(model, *inputs):
    """The maps are right, but only the last of your hooks is taken away: behind the loop, handle is the last one. Keep all handles in a
    list, and call remove() on each."""
    maps, handle = {}, None
    for name, module in model.named_modules():
        if _is_attention(module):
            hook = lambda module, given, output, name=name: maps.update({name: output[1].detach()})  # noqa: E731
            handle = module.register_forward_hook(hook)
    model(*inputs)
    if handle is not None:
        handle.remove()
    return maps


@misconception(
    "attention_maps",
    title="other people's hooks are removed as well",
    keeps="the maps are right; the hooks of others are gone",
)
def maps_that_clear_all_hooks(model, *inputs):
    """The maps are right, but you clear all hooks of a layer, also those that somebody else had left there. Keep your own handles, and call
    remove() on each."""
    maps = _run_with_hooks(model, inputs, lambda output: output[1].detach(), remove=False)
    for module in model.modules():
        module._forward_hooks.clear()
    return maps


@misconception(
    "attention_maps",
    title="the model is left in training mode",
    keeps="the maps are right; the mode is changed",
)
def maps_in_training_mode(model, *inputs):
    """The maps are right, but a model that was in evaluation mode is in training mode afterwards. Leave the mode alone, or put back what it
    was."""
    model.eval()
    maps = _run_with_hooks(model, inputs, lambda output: output[1].detach())
    model.train()
    return maps


@misconception(
    "attention_maps", title="the model itself is left out", keeps="all layers inside a model are found"
)
def maps_without_the_model_itself(model, *inputs):
    """A model that is a layer of attention itself has no map in your result: named_modules() yields it first, with the name "", and you
    leave that out."""
    found = _run_with_hooks(model, inputs, lambda output: output[1].detach())
    return {name: weights for name, weights in found.items() if name}


_SEEN: dict[str, torch.Tensor] = {}


@misconception("attention_maps", title="one dictionary for all calls")
def maps_in_one_dictionary(model, *inputs):
    """Your dictionary is made once, outside of the function, so the maps of earlier models are still in it, and what you have returned before
    changes. Make a new one in each call."""
    _SEEN.update(_run_with_hooks(model, inputs, lambda output: output[1].detach()))
    return _SEEN


@misconception("attention_maps", title="a hook that returns something")
def maps_by_a_hook_that_returns(model, *inputs):
    """Your hooks return something, and what a hook returns takes the place of the layer's output: the model goes on with that. Let them
    return nothing."""
    maps, handles = {}, []
    for name, module in model.named_modules():
        if _is_attention(module):
            hook = lambda module, given, output, name=name: maps.setdefault(name, output[1].detach())  # noqa: E731
            handles.append(module.register_forward_hook(hook))
    try:
        model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return maps


@misconception(
    "attention_maps",
    title="forward is replaced for good",
    keeps="the maps are right; the layers do not get their forward back",
)
def maps_with_forward_replaced_for_good(model, *inputs):
    """The maps are right, but you put a function of your own in the place of each layer's forward and leave it there: every later run goes
    through it, and each call adds another. Keep the old forward and put it back, or use hooks."""
    maps = {}
    for name, module in model.named_modules():
        if _is_attention(module):

            def forward(*args, _name=name, _forward=module.forward, **options):
                output, weights = _forward(*args, **options)
                maps[_name] = weights.detach()
                return output, weights

            module.forward = forward
    model(*inputs)
    return maps


@alternative("attention_maps")
def maps_by_forward_put_back(model, *inputs):
    maps, old = {}, {}
    for name, module in model.named_modules():
        if _is_attention(module):
            old[module] = module.forward

            def forward(*args, _name=name, _forward=module.forward, **options):
                pair = _forward(*args, **options)
                maps[_name] = pair[1].detach()
                return pair

            module.forward = forward
    model(*inputs)
    for module, forward in old.items():
        module.forward = forward
    return maps


@alternative("attention_maps")
def maps_by_a_hook_for_all_modules(model, *inputs):
    names, maps = {module: name for name, module in model.named_modules()}, {}

    def note(module, given, output):
        if _is_attention(module):
            maps[names[module]] = output[1].detach()

    handle = torch.nn.modules.module.register_module_forward_hook(note)
    model(*inputs)
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

"""Slips of lab 08: where there is a mask, or leaving something at a model."""

from __future__ import annotations

from tests.audit.slips import Slips

slip = Slips("08")


def _maps(model, inputs, note_at, clean):
    """Run the model with hooks at its layers of attention; ``note_at`` puts one there and ``clean`` takes leave."""
    maps, handles = {}, []
    for name, module in model.named_modules():
        if type(module).__name__ == "MultiHeadAttention":
            handles.append(note_at(module, lambda m, i, o, name=name: maps.update({name: o[1].detach()})))
    model(*inputs)
    clean(handles)
    return maps


@slip("attention_maps")
def a_pre_hook_stays(model, *inputs):
    def note_at(module, note):
        module.register_forward_pre_hook(lambda *_: None)
        return module.register_forward_hook(note)

    def clean(handles):
        for handle in handles:
            handle.remove()

    return _maps(model, inputs, note_at, clean)


@slip("attention_maps")
def a_hook_of_somebody_else_is_taken(model, *inputs):
    def note_at(module, note):
        module.register_forward_hook(note)
        return module

    def clean(modules):
        for module in modules:
            module._forward_hooks.popitem(last=False)

    return _maps(model, inputs, note_at, clean)


def _sizes_differ(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and Q.shape != V.shape


def _one_sentence(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and len(x) == 1


def _many_heads_by_themselves(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and x.shape == memory.shape and h > 1


def _as_long_as_the_memory(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and x.shape == memory.shape


SCALED_BY_THE_MODEL = "heads_scaled_otherwise (scaled by the model's size, not the head's)"

slip.where({
    "scaled by the model, other sizes": ("multi_head_attention", SCALED_BY_THE_MODEL, _sizes_differ),
    "scaled by the model, one sentence": ("multi_head_attention", SCALED_BY_THE_MODEL, _one_sentence),
    "scaled by the model, by themselves": ("multi_head_attention", SCALED_BY_THE_MODEL, _many_heads_by_themselves),
    "merged by reshape, other sizes": ("multi_head_attention", "heads_merged_by_reshape", _sizes_differ),
    "merged by reshape, one sentence": ("multi_head_attention", "heads_merged_by_reshape", _one_sentence),
    "merged by reshape, by themselves": ("multi_head_attention", "heads_merged_by_reshape", _many_heads_by_themselves),
    "a memory as long as the listener": ("multi_head_attention", "heads_that_ignore_the_memory", _as_long_as_the_memory),
})  # fmt: skip

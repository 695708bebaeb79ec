"""Lab 10, ``noam_rate``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import torch

from autograder.testing import alternative, misconception


@misconception("noam_rate", title="the larger of the two instead of the smaller")
def noam_with_the_maximum(step, d_model, warmup):
    """Your rate is enormous at first and then grows without end: you take the larger of the two expressions. The smaller one counts."""
    step = max(step, 1)
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="no warm-up")
def noam_without_warm_up(step, d_model, warmup):
    """Your rate falls from the very first step: the straight climb during the warm-up is missing."""
    return d_model**-0.5 * max(step, 1) ** -0.5


@misconception("noam_rate", title="it never comes down")
def noam_that_stays_up(step, d_model, warmup):
    """Your rate climbs and then stays where it is. After the warm-up it falls with the root of the step."""
    return d_model**-0.5 * min(max(step, 1), warmup) * warmup**-1.5


@misconception("noam_rate", title="the model's size does not count")
def noam_without_the_size(step, d_model, warmup):
    """Your rate does not depend on d_model: larger models get smaller rates, by the root of their size."""
    step = max(step, 1)
    return min(step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="the root upside down")
def noam_with_the_root_of_the_size(step, d_model, warmup):
    """Your rate grows with the model's size: the exponent is −0.5, not 0.5."""
    step = max(step, 1)
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="step 0 has no rate", keeps="right from the first step on")
def noam_from_step_zero(step, d_model, warmup):
    """Your function divides by 0 (or gives the rate 0) in step 0. Some programs count from there: step 0 has the rate of step 1."""
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="the exponents exchanged")
def noam_with_the_wrong_exponent(step, d_model, warmup):
    """Your two expressions do not meet at the top: the exponent of warmup is −1.5, so that step · warmup⁻¹·⁵ equals step⁻⁰·⁵ when step = warmup."""
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


@misconception("noam_rate", title="the rate 0 in step 0", keeps="right from the first step on")
def noam_that_begins_with_nothing(step, d_model, warmup):
    """Your rate in step 0 is 0, so that nothing would be learned in it. Some programs count from there: step 0 has the rate of step 1."""
    return 0.0 if step == 0 else d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="one step too far")
def noam_one_step_ahead(step, d_model, warmup):
    """Your function gives each step the rate of the next one: 1 is added to step. Only step 0 is moved, to step 1."""
    step = step + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="d_model only behind the top")
def noam_with_the_size_in_one_part(step, d_model, warmup):
    """During the climb your rate does not depend on d_model: its factor stands at the first of the two expressions only. It stands before the
    whole minimum."""
    step = max(step, 1)
    return min(d_model**-0.5 * step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="the rate is rounded", keeps="right where the rate is not tiny")
def noam_rounded(step, d_model, warmup):
    """Your rate is rounded. In the first steps it is far smaller than a millionth, and rounding changes it, or makes 0 of it. Return it as it is."""
    step = max(step, 1)
    return round(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5), 8)


_KEPT: dict[int, float] = {}


@misconception(
    "noam_rate", title="rates are kept from call to call", keeps="right for one size and one warm-up"
)
def noam_from_a_table(step, d_model, warmup):
    """Asked for a step a second time, with another d_model or warmup, you return the first answer: rates are kept by their step alone.
    Compute each anew, or keep them by all three arguments."""
    step = max(step, 1)
    if step not in _KEPT:
        _KEPT[step] = d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    return _KEPT[step]


_KEPT_BY_SIZE: dict[tuple[int, int], float] = {}


@misconception(
    "noam_rate", title="rates are kept, whatever the warm-up", keeps="right for one warm-up with each size"
)
def noam_from_a_table_of_sizes(step, d_model, warmup):
    """Asked for a step a second time, with another warmup, you return the first answer: rates are kept by step and d_model only. Compute each
    anew, or keep them by all three arguments."""
    step = max(step, 1)
    if (step, d_model) not in _KEPT_BY_SIZE:
        _KEPT_BY_SIZE[step, d_model] = d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    return _KEPT_BY_SIZE[step, d_model]


@misconception(
    "noam_rate", title="a staircase behind the top", keeps="right in the warm-up, and at multiples of it"
)
def noam_in_stairs(step, d_model, warmup):
    """Behind the top your rate falls in stairs: // leaves only whole numbers. It falls smoothly, with 1/√step."""
    step = max(step, 1)
    top = (d_model * warmup) ** -0.5
    return top * step / warmup if step < warmup else top * (step // warmup) ** -0.5


@alternative("noam_rate")
def noam_by_cases(step, d_model, warmup):
    step = step or 1
    shape = step / warmup if step <= warmup else math.sqrt(warmup / step)
    return shape / math.sqrt(d_model * warmup)


@alternative("noam_rate")
def noam_in_torch(step, d_model, warmup):
    step = torch.tensor(max(1.0, step), dtype=torch.float64)
    return torch.minimum(step.rsqrt(), step / warmup**1.5) / d_model**0.5

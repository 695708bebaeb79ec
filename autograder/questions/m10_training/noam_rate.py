"""Lab 10, noam_rate: step (0 or more), d_model, warmup → the learning rate of Vaswani et al. 2017, equation 3."""

import math

import torch

from autograder.questions.engine import Question


def by_cases(step, d_model, warmup):
    top = 1 / math.sqrt(d_model * warmup)
    step = 1 if step == 0 else step
    return top * step / warmup if step < warmup else top * math.sqrt(warmup / step)


question = Question(by_cases)
CLOSE = {"rtol": 1e-4, "atol": 0.0}

# Each step is asked for with one size and one warm-up only, but in the family for it.


@question.family("The rate climbs in a straight line up to the top.", weight=2, **CLOSE)
def climb(rng):
    for step in rng.permutation(range(20, 100))[:4].tolist():
        yield step, 16, 100
    yield 100, 16, 100


@question.family("Behind the top it falls with the root of the step.", weight=2, **CLOSE)
def fall(rng):
    for step in rng.permutation(range(18_000, 72_000))[:3].tolist():
        yield step, 512, 4000
    yield 90_000, 16, 50


@question.family("512 and 4,000: the first steps are tiny, and not 0.", **CLOSE)
def first_steps(rng):
    for step in rng.permutation(range(2, 9))[:3].tolist():
        yield step, 512, 4000


@question.family("One step of several sizes and warm-ups.", weight=2, **CLOSE)
def sizes_and_warm_ups(rng):
    step = int(rng.integers(2000, 4000))
    for d_model, warmup in ((512, 4000), (256, 4000), (512, 16_000), (int(rng.integers(3, 200)), 9)):
        yield step, d_model, warmup


@question.family("Step 0 has the rate of step 1.", weight=0.75, **CLOSE)
def step_zero(rng):
    yield int(rng.integers(110_000, 120_000)), 64, 100  # so that who fails in step 0 alone shows something
    for warmup in (100, 1):
        yield 0, int(rng.integers(30, 90)), warmup


@question.misconception("the larger of the two instead of the smaller", costs=1.5)
def noam_with_the_maximum(step, d_model, warmup):
    """Your rate is enormous at first and then grows without end: you take the larger of the two expressions. The smaller one counts."""
    step = max(step, 1)
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


@question.misconception("no warm-up", costs=1)
def noam_without_warm_up(step, d_model, warmup):
    """Your rate falls from the very first step: the straight climb during the warm-up is missing."""
    return d_model**-0.5 * max(step, 1) ** -0.5


@question.misconception("the model's size does not count", costs=1.5)
def noam_without_the_size(step, d_model, warmup):
    """Your rate does not depend on d_model: larger models get smaller rates, by the root of their size."""
    step = max(step, 1)
    return min(step**-0.5, step * warmup**-1.5)


@question.misconception("the root upside down", costs=1.5)
def noam_with_the_root_of_the_size(step, d_model, warmup):
    """Your rate grows with the model's size: the exponent is −0.5, not 0.5."""
    step = max(step, 1)
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


@question.misconception("step 0 has no rate", costs=0.5)
def noam_from_step_zero(step, d_model, warmup):
    """Your function divides by 0 (or gives the rate 0) in step 0. Some programs count from there: step 0 has the rate of step 1."""
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@question.misconception("the exponents exchanged", costs=1.5)
def noam_with_the_wrong_exponent(step, d_model, warmup):
    """Your two expressions do not meet at the top: the exponent of warmup is −1.5, so that step · warmup⁻¹·⁵ equals step⁻⁰·⁵ when step = warmup."""
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


@question.misconception("one step too far", costs=1)
def noam_one_step_ahead(step, d_model, warmup):
    """Your function gives each step the rate of the next one: 1 is added to step. Only step 0 is moved, to step 1."""
    step = step + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@question.alternative
def noam_by_cases(step, d_model, warmup):
    step = step or 1
    shape = step / warmup if step <= warmup else math.sqrt(warmup / step)
    return shape / math.sqrt(d_model * warmup)


@question.alternative
def noam_in_torch(step, d_model, warmup):
    step = torch.tensor(max(1.0, step), dtype=torch.float64)
    return torch.minimum(step.rsqrt(), step / warmup**1.5) / d_model**0.5

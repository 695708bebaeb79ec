"""Lab 10, ``adam_step``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch

from autograder.testing import alternative, misconception


def _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, *, corrected=(True, True), power=None):
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient**2
    power = t if power is None else power
    m_hat = m / (1 - beta1**power) if corrected[0] else m
    v_hat = v / (1 - beta2**power) if corrected[1] else v
    return parameter - rate * m_hat / (v_hat.sqrt() + eps), m, v


@misconception("adam_step", title="no correction of the means")
def adam_without_correction(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your first steps have the wrong length: m and v began at 0 and are too small at first. Divide them by 1 − βᵗ before you use them."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, corrected=(False, False))


@misconception("adam_step", title="only m is corrected")
def adam_correcting_only_m(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your first steps are too long: m is corrected for its beginning at 0, v is not. Both began at 0."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, corrected=(True, False))


@misconception("adam_step", title="the correction without the power t")
def adam_correcting_without_t(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your first step is right and all later ones are too long: the correction is 1 − β to the power t, and fades away as t grows."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, power=1)


@misconception("adam_step", title="counting from zero")
def adam_one_step_ahead(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your correction uses t + 1. Here t is 1 in the first step already."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, power=t + 1)


@misconception("adam_step", title="the corrected means are kept")
def adam_that_returns_corrected_means(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your parameter is right, but you return the corrected m̂ and v̂: in the next step they would be corrected a second time. Return the plain m and v."""
    parameter, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return parameter, m / (1 - beta1**t), v / (1 - beta2**t)


@misconception("adam_step", title="no square root")
def adam_without_the_root(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """You divide by v̂, a mean of *squares*. Its root has the size of a gradient: divide by that."""
    _, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return parameter - rate * (m / (1 - beta1**t)) / (v / (1 - beta2**t) + eps), m, v


@misconception("adam_step", title="eps inside the root", keeps="right where eps is tiny beside the gradients")
def adam_with_eps_inside(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your eps stands under the root, where it weighs much more for small gradients. It is added after the root."""
    _, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return parameter - rate * (m / (1 - beta1**t)) / (v / (1 - beta2**t) + eps).sqrt(), m, v


@misconception("adam_step", title="the gradient is not squared")
def adam_without_the_square(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your v is a mean of the gradient, not of its square: it can become negative, and its root is then no number."""
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient
    return parameter - rate * (m / (1 - beta1**t)) / ((v / (1 - beta2**t)).sqrt() + eps), m, v


@misconception("adam_step", title="β₁ and β₂ exchanged")
def adam_with_betas_exchanged(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """β₁ and β₂ are exchanged in your function: β₁ belongs to m, β₂ to v."""
    return _adam(parameter, gradient, m, v, t, rate, beta2, beta1, eps)


@misconception("adam_step", title="uphill")
def adam_uphill(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your parameter moves with the gradient, uphill: the step is subtracted."""
    down, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return 2 * parameter - down, m, v


@misconception("adam_step", title="the tensors that were given are changed", keeps="the results are right")
def adam_in_place(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your values are right, but tensors that you were given are changed in place (mul_, add_, copy_, +=): for the caller they are no longer what they were. Make new ones."""
    m.mul_(beta1).add_(gradient, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
    return parameter - rate * (m / (1 - beta1**t)) / ((v / (1 - beta2**t)).sqrt() + eps), m, v


@misconception(
    "adam_step",
    title="eps is added before v is corrected",
    keeps="right where eps is tiny beside the gradients",
)
def adam_with_eps_before_the_correction(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your eps is added to the root of v before v is corrected, so in the first steps it weighs more than it should (the shortcut that
    puts both corrections into the rate does so). Correct v, take its root, then add eps."""
    _, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    rate_t = rate * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
    return parameter - rate_t * m / (v.sqrt() + eps), m, v


@misconception("adam_step", title="corrections for 0.9 and 0.98 only", keeps="right for the usual betas")
def adam_correcting_for_the_usual_betas(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """With other betas than the usual ones your steps have the wrong length: the corrections use 0.9 and 0.98, whatever beta1 and beta2
    are."""
    _, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return parameter - rate * (m / (1 - 0.9**t)) / ((v / (1 - 0.98**t)).sqrt() + eps), m, v


@misconception("adam_step", title="PyTorch's defaults", keeps="right where the betas are given")
def adam_with_the_defaults_of_pytorch(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.999, eps=1e-8):
    """Your function has the defaults of PyTorch's Adam. Here they are those of the first transformer: beta2 = 0.98 and eps = 1e-9."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)


@misconception(
    "adam_step", title="another eps", keeps="right where the gradients are not tiny, or eps is given"
)
def adam_with_another_eps(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-8):
    """Called without eps, your function takes another one, 1e-8 as PyTorch does, say. Here it is that of the first transformer: eps = 1e-9."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)


@misconception("adam_step", title="v never falls", keeps="right while the gradients grow")
def adam_whose_v_never_falls(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your v never falls: you keep the larger of the old and the new one. That is a variant (AMSGrad); here v is the running mean, and falls where gradients get smaller."""
    m = beta1 * m + (1 - beta1) * gradient
    v = torch.maximum(v, beta2 * v + (1 - beta2) * gradient**2)
    return parameter - rate * m / (1 - beta1**t) / ((v / (1 - beta2**t)).sqrt() + eps), m, v


@misconception("adam_step", title="not for a single number", keeps="right for tensors with axes")
def adam_entry_by_entry(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your function fails for a single number, a tensor of shape (): you go through the entries one by one. Tensors are added and multiplied as a whole, whatever their
    shape."""
    steps = [
        _adam(parameter[i], gradient[i], m[i], v[i], t, rate, beta1, beta2, eps)
        for i in range(len(parameter))
    ]
    return tuple(torch.stack(parts) for parts in zip(*steps, strict=True))


@misconception("adam_step", title="corrected only at first", keeps="right in the first steps")
def adam_correcting_only_at_first(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your late steps are too short or too long: from some step on you leave out the corrections. They fade away by themselves, and slowly: in step 40 that of v is still 0.55."""
    early = t <= 10
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, corrected=(early, early))


_COUNTED = [0]


@misconception("adam_step", title="the steps are counted inside")
def adam_that_counts_by_itself(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Called twice with the same arguments, your function takes two different steps: something is kept from call to call, a count of the steps, say. The
    argument t says which step it is. (A model has many weights, and each of them calls.)"""
    _COUNTED[0] += 1
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, power=_COUNTED[0])


@misconception(
    "adam_step", title="no step where the gradient is 0", keeps="right where no gradient is exactly 0"
)
def adam_resting_without_a_gradient(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """A weight whose gradient is 0 stays where it is in your function. But m remembers earlier gradients and goes on pushing; only where
    it is 0 as well is there no step."""
    after, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return torch.where(gradient == 0, parameter, after), m, v


@alternative("adam_step")
def adam_with_lerp_and_addcdiv(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    m = torch.lerp(m, gradient, 1.0 - beta1)
    v = torch.lerp(v, gradient.square(), 1.0 - beta2)
    step = rate / (1 - math.pow(beta1, t))
    below = v.sqrt() / math.sqrt(1 - math.pow(beta2, t)) + eps
    return torch.addcdiv(parameter, m, below, value=-step), m, v


@alternative("adam_step")
def adam_in_numpy(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    p, g, m, v = (one.numpy() for one in (parameter, gradient, m, v))
    m = m + (1 - beta1) * (g - m)
    v = v + (1 - beta2) * (g * g - v)
    p = p - rate * np.divide(m, 1 - beta1**t) / (np.sqrt(np.divide(v, 1 - beta2**t)) + eps)
    return [torch.as_tensor(one) for one in (p, m, v)]


@alternative("adam_step")
def adam_in_single_precision(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    return _adam(
        parameter.float(), gradient.float(), m.float(), v.float(), t, rate, beta1, beta2, eps, power=float(t)
    )


@alternative("adam_step")
def adam_in_single_precision_on_the_way(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    p, g, m, v = (one.float() for one in (parameter, gradient, m, v))
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    p = p - rate * (m / (1 - beta1**t)) / ((v / (1 - beta2**t)).sqrt() + eps)
    return tuple(one.to(parameter.dtype) for one in (p, m, v))

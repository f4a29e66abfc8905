"""Learning rates as functions of the step, so a checkpoint need not store a state of the schedule."""

from collections.abc import Callable

Schedule = Callable[[int], float]


def noam(*, factor: float, model_size: int, warmup: int) -> Schedule:
    """Return the schedule of Vaswani et al. 2017: linear warm-up, then decay with the inverse square root. rate(step) =
    factor x model_size^-.5 x min(step^-.5, step x warmup^-1.5); it peaks at step `warmup`. The released HT's factor of
    3, model size of 256 and warm-up of 8,000 peak at 2.1e-3. Raises ValueError: an argument is not positive."""
    if factor <= 0 or model_size < 1 or warmup < 1:
        raise ValueError(f"expected a positive factor, model size and warm-up, got {factor}, {model_size}, {warmup}")
    return lambda step: factor * model_size**-0.5 * min(step**-0.5, step * warmup**-1.5)


def constant(rate: float) -> Schedule:
    """Return the schedule that stays at `rate`. Raises ValueError: the rate is not positive."""
    if rate <= 0:
        raise ValueError(f"expected a positive learning rate, got {rate}")
    return lambda step: rate


def linear(*, peak: float, warmup: int, steps: int) -> Schedule:
    """Return linear warm-up to `peak` within at most half of all steps, then linear decay that would reach 0 one step
    after the last. A short run ends with a better model than under `noam`, whose rate is still high when it stops.
    Raises ValueError: an argument is not positive."""
    if peak <= 0 or warmup < 1 or steps < 1:
        raise ValueError(f"expected a positive peak, warm-up and number of steps, got {peak}, {warmup} and {steps}")
    top = min(warmup, max(1, steps // 2))
    return lambda step: peak * min(step / top, max(0, steps + 1 - step) / (steps + 1 - top))

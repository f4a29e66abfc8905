"""The device: what it could do at most, its name, and the peak memory of a piece of work."""

import time
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from models.training.live_memory import LiveBytes

# Dense bfloat16, in TFLOP/s, as the makers' data sheets print them; the first name found in the device's name counts.
_PEAKS = {
    "B200": 2250.0,
    "H200": 989.0,
    "H100 PCIe": 756.0,
    "H100": 989.0,
    "A100": 312.0,
    "L40S": 362.0,
    "L4": 121.0,
    "A10": 125.0,
    "RTX 4090": 165.0,
}


def describe(device: torch.device) -> dict[str, object]:
    """Return the name of the device, its peak in FLOP/s and where that figure comes from."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    known = next((peak for part, peak in _PEAKS.items() if part in name), None)
    peak, source = (known * 1e12, "data sheet, bfloat16") if known else (matmul_rate(device), "measured by a product")
    return {"device": name, "torch": torch.__version__, "peak_flops": peak, "peak_source": source}


def matmul_rate(device: torch.device) -> float:
    """Return the FLOP/s of a large matrix product: bfloat16 on CUDA, float32 on a CPU."""
    cuda = device.type == "cuda"
    size, dtype = (8192, torch.bfloat16) if cuda else (512, torch.float32)
    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    a @ b
    finish(device)
    started = clock(device)
    for _ in range(8):
        a @ b
    finish(device)
    return 8 * 2 * size**3 / (clock(device) - started)


def clock(device: torch.device) -> float:
    """Return the time in seconds: on a CPU that of the process, which other work on the machine changes less."""
    return time.process_time() if device.type == "cpu" else time.perf_counter()


def finish(device: torch.device) -> None:
    """Wait until the device has finished."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak_bytes(device: torch.device, held: Iterable[Tensor], work: Callable[[], object]) -> int:
    """Return the most bytes of tensors that exist at once during `work`; on a CPU `held` exist before it."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
        work()
        finish(device)
        return torch.cuda.max_memory_allocated(device)
    with LiveBytes(held) as live:
        work()
    return live.peak

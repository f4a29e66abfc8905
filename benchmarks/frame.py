"""What benchmarks share: options from the parameters of `main`, parts in processes of their own, rounds in turns."""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from pkgutil import resolve_name
from types import NoneType
from typing import Any, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

Result = TypeVar("Result")


def command(main: Callable[..., int | None], about: str | None) -> NoReturn:
    """Call `main` with the options of the command line, and end with the status that it returns.

    A parameter with a default is an option of its name, one without stands for itself; a tuple takes several values.
    `about` says what the benchmark measures, for `--help`."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    hints = get_type_hints(main)
    for name, parameter in signature(main).parameters.items():
        kind = hints[name]
        if NoneType in get_args(kind):
            kind = next(get_arg for get_arg in get_args(kind) if get_arg is not NoneType)
        taken: dict[str, Any] = {}
        if get_origin(kind) is tuple:
            kind, taken["nargs"] = get_args(kind)[0], "*"
        if get_origin(kind) is Literal:
            taken["choices"] = get_args(kind)
            kind = type(get_args(kind)[0])
        taken |= {"action": "store_true"} if kind is bool else {"type": kind}
        if parameter.default is Parameter.empty:
            parser.add_argument(name, **taken)
        else:
            parser.add_argument(f"--{name.replace('_', '-')}", default=parameter.default, **taken)
    try:
        raise SystemExit(main(**vars(parser.parse_args())))
    except OptionError as error:
        parser.error(str(error))


class OptionError(ValueError):
    """An option's value cannot be used; the message says what was expected."""


def apart(function: Callable[..., Result], *arguments: Any, seconds: float | None = None) -> Result:
    """Call a module's function in a process of its own, so that its peak memory includes nothing else.

    The function is one of a module; arguments and result go through JSON. Raises SystemExit: it failed; with the end of
    its standard error; TimeoutError: it did not end within so many `seconds`."""
    module = function.__module__
    if module == "__main__":
        module = sys.modules[module].__spec__.name  # type: ignore[union-attr]
    call = [sys.executable, "-m", "benchmarks.frame", f"{module}:{function.__name__}"]
    given, limit = json.dumps(arguments), None if seconds is None else max(seconds, 0.0)
    try:
        done = subprocess.run(call, input=given, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"{module}:{function.__name__} did not end within {seconds:.0f} s") from error
    if done.returncode:
        raise SystemExit(f"{module}:{function.__name__} failed:\n{done.stderr[-3000:]}")
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def peak_bytes() -> int:
    """Return the highest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def processor_seconds() -> float:
    """Return the processor time of this process and of the processes it started that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def fastest(
    functions: Mapping[str, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the least seconds of each function; rounds alternate between them, so that other work slows all alike."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            started = clock()
            function()
            best[name] = min(best[name], clock() - started)
    return best


if __name__ == "__main__":
    print(json.dumps(resolve_name(sys.argv[1])(*json.load(sys.stdin))))

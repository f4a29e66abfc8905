"""The measurements as one table for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def render(machine: Row, rows: Sequence[Row]) -> str:
    """Return the lines of all parts; `machine` is the first line of a part, `rows` are the others."""
    lines = []
    if machine:
        peak = machine["peak_flops"] / 1e12
        lines.append(f"{machine['device']}, PyTorch {machine['torch']}; {peak:,.2f} TFLOP/s ({machine['peak_source']})")
    title = ""
    for row in rows:
        if row["part"] != title:
            title = row["part"]
            lines += ["", _HEADS[title]]
        line = f"failed: {row['failed']}" if "failed" in row else _LINES[title](row, machine)
        lines.append(f"{row['system']:10}{line}")
    articles = {row["system"]: row["articles"] for row in rows if row["part"] == "memory" and "articles" in row}
    if articles.get("FT-1600") and "PHT" in articles:
        lines += ["", f"largest batch, PHT / FT-1600: {articles['PHT'] / articles['FT-1600']:.2f} x"]
    return "\n".join(lines)


def _training(row: Row, machine: Row) -> str:
    ours, plain = row["ours"], row["plain"]
    mfu = ours["tokens_per_second"] * row["flops_per_token"] / machine["peak_flops"]
    line = f"{ours['tokens_per_second']:12,.0f} {mfu:6.1%} {ours['padding']:8.1%} {ours['data_wait']:6.1%}"
    line += f" {ours['peak_bytes'] / 2**20:10,.0f} "
    if "failed" in plain:
        return f"{line}| failed: {plain['failed']}"
    of_plain = mfu * plain["tokens_per_second"] / ours["tokens_per_second"]
    line += f"|{plain['tokens_per_second']:12,.0f} {of_plain:6.1%} {plain['padding']:8.1%} {plain['data_wait']:6.1%}"
    ratio = ours["tokens_per_second"] / plain["tokens_per_second"]
    return f"{line} {plain['peak_bytes'] / 2**20:10,.0f} | {ratio:.2f} x"


def _memory(row: Row, machine: Row) -> str:
    return f"{row['articles']:12,} articles in {row['memory_bytes'] / 2**20:,.0f} MB"


def _decoding(row: Row, machine: Row) -> str:
    ratio = row["ours"] / row["released"]
    return f"{row['ours']:12,.2f} {row['released']:10,.2f}   {ratio:5.1f} x   {row['same']:.0%}"


def _precision(row: Row, machine: Row) -> str:
    cells = []
    for way in ("float32", "TF32", "bfloat16"):
        result = row[way]
        word = "agrees" if result["agrees"] else "DIFFERS"
        cells.append(f"{result['tokens_per_second']:10,.0f} {result['loss_difference']:.0e} {word}")
    return " | ".join(cells)


def _compile(row: Row, machine: Row) -> str:
    speed = f"{row['off']:12,.0f} {row['on']:12,.0f}" if "off" in row else f"{'-':>12} {'-':>12}"
    return f"{speed} {row['graph_breaks']:8}"


_LINES = {"training": _training, "memory": _memory, "decoding": _decoding, "precision": _precision, "compile": _compile}
_SIDE = f"{'tokens/s':>12} {'MFU':>6} {'padding':>8} {'wait':>6} {'peak MB':>10}"
_HEADS = {
    "training": f"training: ours | the plain design; source tokens without padding\n{'':10}{_SIDE} |{_SIDE} |",
    "memory": "largest batch of equal articles in fixed memory",
    "decoding": f"decoding: summaries a second\n{'':10}{'ours':>12} {'released':>10}   ratio     the same summaries",
    "precision": "precision: source tokens a second and difference of the loss to float32's\n"
    f"{'':10}{'float32':>10}{'':13} | {'TF32':>10}{'':13} | {'bfloat16':>10}",
    "compile": f"torch.compile: source tokens a second\n{'':10}{'off':>12} {'on':>12} {'breaks':>8}",
}

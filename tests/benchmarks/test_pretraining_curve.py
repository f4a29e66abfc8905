"""The curve of pre-training, from the benchmark's rows."""

from benchmarks.pretraining_curve import curves
from tasks.reporting.plots import curve_picture

ROWS = [
    {"articles": 50, "start": "fresh", "figures": {"validation_nll": 5.0, "rouge1": 0.2, "facts-right": None}},
    {"articles": 50, "start": "pretrained", "figures": {"validation_nll": 3.0, "rouge1": 0.4, "facts-right": None}},
    {"articles": 800, "start": "pretrained", "figures": {"validation_nll": 1.5, "rouge1": 0.5, "facts-right": None}},
]


def test_each_figure_that_is_defined_has_a_line_for_each_start() -> None:
    nll, rouge = curves(ROWS)
    assert (nll.name, nll.label, nll.over) == (
        "curve-validation_nll",
        "validation nll (nats per token)",
        "training articles",
    )
    assert nll.series == {"fresh": [(50, 5.0)], "pretrained": [(50, 3.0), (800, 1.5)]}
    assert (rouge.label, rouge.series["pretrained"]) == ("ROUGE-1 (%)", [(50, 40.0), (800, 50.0)])
    assert curve_picture(rouge).startswith(b"\x89PNG")

"""A forward pass of a preset, and the command that runs it."""

import pytest

from models.__main__ import count_parameters, dry_run, kept_bytes, main
from models.presets import find_preset
from tests.models.systems import batch, target, tiny


@pytest.mark.parametrize("preset", ["hed-small", "hie-bart-small", "ht-small", "ptgen-small"])
def test_a_preset_is_run_at_its_size(preset: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, parameters = find_preset(preset).words, count_parameters(preset)
    found = dry_run(preset, 16, 5)
    assert found.startswith(
        f"logits [1, 5, {words}], attention to documents [1, 5, 4]; {parameters:,} parameters, "
        f"{parameters / 2.5e8:.2f} GB in fp32, {parameters / 6.25e7:.2f} GB with gradients and Adam; a training step "
    )
    main([preset, "--tokens", "16", "--target", "5"])
    assert capsys.readouterr().out == f"{preset}: {found}\n"


def test_what_is_kept_grows_with_the_target_and_leaves_weights_out() -> None:
    model = tiny("bart-large").train()
    short, long = (kept_bytes(model, batch(), target(length=length)) for length in (4, 8))
    assert 0 < short < long
    before = sum(parameter.numel() for parameter in model.parameters())
    assert short < 10 * 4 * before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hedd"], "unknown preset 'hedd', expected one of: "),
        (["hed-small", "--tokens", "3"], "expected at least 4 source tokens and 1 target token, got 3 and 128"),
        (["bart-small", "--target", "5000", "--tokens", "16"], "expected at most max_positions 1024 target tokens"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]

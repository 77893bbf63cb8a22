"""What small expressions give and how it is printed, and what is said of wrong ones, is what PyTorch gives and says."""

import json
import pathlib
import sys
import warnings

import pytest
import taeda as torch

GOLDEN = pathlib.Path(__file__).parent / "golden"
sys.path.insert(0, str(GOLDEN))

import expressions  # noqa: E402

EXPECTED = json.loads((GOLDEN / "expressions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("group", EXPECTED)
def test_group(group):
    wrong = []
    for expression, expected in EXPECTED[group].items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = expressions.outcome(torch, expression)
        if got != expected:
            wrong.append(f"{expression}\n  gave     {got}\n  expected {expected}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong)

"""utils.flop_counter: the numbers that PyTorch 2.15 gives."""

import pytest

import taeda as torch
from taeda.nn import functional as F
from taeda.utils.flop_counter import FlopCounterMode


def r(*size):
    return torch.randn(*size, requires_grad=True)


@pytest.mark.parametrize("run, flops", [
    (lambda: F.scaled_dot_product_attention(r(1, 2, 3, 4), r(1, 2, 5, 4), r(1, 2, 5, 4)), 1680),
    (lambda: F.scaled_dot_product_attention(r(2, 4, 128, 32), r(2, 4, 128, 32), r(2, 4, 128, 32)), 58720256),
    (lambda: F.conv2d(r(2, 4, 8, 8), r(6, 2, 3, 3), groups=2, stride=2), 15552),
    (lambda: F.conv_transpose2d(r(2, 4, 5, 5), r(4, 6, 3, 3)), 64800), (lambda: torch.bmm(r(2, 3, 4), r(2, 4, 5)), 720),
    (lambda: torch.addmm(r(2, 2), r(2, 3), r(3, 2)), 72), (lambda: F.conv2d(r(1, 4, 8, 8), r(6, 4, 1, 1)), 9216),
    (lambda: F.conv1d(r(1, 4, 8), r(6, 4, 3)), 2592),
    (lambda: torch.nn.Linear(4, 5)(torch.ones(2, 4)).sum() + F.conv2d(torch.ones(1, 3, 8, 8), torch.ones(4, 3, 3, 3)).sum(),
     7936),
])
def test_totals(run, flops):
    with FlopCounterMode(display=False) as counter:
        run().sum().backward()
    assert counter.get_total_flops() == flops


def test_counts_and_table(capsys):
    with FlopCounterMode() as counter:
        torch.nn.Linear(4, 5)(r(2, 4)).sum().backward()
    assert counter.get_flop_counts() == {"Global": {"aten.addmm": 80, "aten.mm": 160}}
    shown = capsys.readouterr().out
    assert shown == counter.get_table() + "\n" and [row.split() for row in shown.splitlines()][2:] == [
        ["Global", "240", "100.00%"], ["-", "aten.addmm", "80", "33.33%"], ["-", "aten.mm", "160", "66.67%"]]
    with counter:
        pass
    assert counter.get_total_flops() == 0
    capsys.readouterr()
    with FlopCounterMode(display=False) as counter:
        torch.mm(torch.ones(100, 100), torch.ones(100, 100))
    assert "2.000M" in counter.get_table()
    with pytest.raises(NotImplementedError, match="custom_mapping"):
        FlopCounterMode(custom_mapping={"a": len})

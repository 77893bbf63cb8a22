"""utils.flop_counter: the numbers that PyTorch 2.15 gives."""

import pytest

import taeda as torch
from taeda.nn import functional as F
from taeda.utils.flop_counter import FlopCounterMode
from taeda.utils.module_tracker import ModuleTracker


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


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten())
        self.head = torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))


@pytest.mark.parametrize("wants_grad", [False, True])
def test_counts_by_modules(wants_grad):
    net = Net()
    with FlopCounterMode(display=False) as counter:
        net(torch.ones(5, 1, 4, 4, requires_grad=wants_grad)).sum().backward()
        torch.mm(torch.ones(2, 2), torch.ones(2, 2))
    body = {"aten.convolution": 720, "aten.convolution_backward": 1440 if wants_grad else 720}
    head = {"aten.addmm": 240, "aten.mm": 480}
    assert counter.get_flop_counts() == {"Net.body.0": body, "Net.body": body, "Net.head": head, "Net": {**body, **head},
                                         "Global": {**body, **head, "aten.mm": 496}}
    names = [row.split("  ")[0].rstrip() or row.strip().split("  ")[0] for row in counter.get_table(1).splitlines()[2:]]
    assert names[0] == "Global" and "Net" in " ".join(names) and "Net.body" not in counter.get_table(1)
    assert "Net.body.0" not in counter.get_table(2) and "Net.body.0" in counter.get_table(3)


def test_a_table_whose_modules_do_everything(capsys):
    with FlopCounterMode() as counter:
        torch.nn.Linear(4, 5)(r(2, 4)).sum().backward()
    counts = {"aten.addmm": 80, "aten.mm": 160}
    assert counter.get_flop_counts() == {"Linear": counts, "Global": counts}
    shown = capsys.readouterr().out
    assert shown == counter.get_table() + "\n" and [row.split() for row in shown.splitlines()][2:] == [
        ["Linear", "240", "100.00%"], ["-", "aten.addmm", "80", "33.33%"], ["-", "aten.mm", "160", "66.67%"]]
    with counter:
        pass
    assert counter.get_total_flops() == 0 and counter.get_table().split()[-3:] == ["Global", "0", "0%"]
    capsys.readouterr()
    with FlopCounterMode(display=False) as counter:
        torch.mm(torch.ones(100, 100), torch.ones(100, 100))
    assert "2.000M" in counter.get_table()
    with pytest.raises(NotImplementedError, match="custom_mapping"):
        FlopCounterMode(custom_mapping={"a": len})


def test_modules_that_run():
    net, seen = Net(), []
    with ModuleTracker() as tracker:
        def look(*_):
            seen.append((sorted(tracker.parents), tracker.is_bw))
        net.head.register_forward_hook(look)
        net.head.register_full_backward_hook(look)
        net(torch.ones(5, 1, 4, 4)).sum().backward()
    assert seen == [(["Global", "Net"], False), (["Global", "Net", "Net.head"], True)] and tracker.parents == {"Global"}
    net(torch.ones(5, 1, 4, 4))
    assert len(seen) == 3 and seen[-1] == (["Global"], False)

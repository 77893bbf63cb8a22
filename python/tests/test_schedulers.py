"""Where schedules of learning rates start, go on and end, with PyTorch 2.15's values."""

import copy
import warnings

import pytest

import taeda as torch

schedulers = torch.optim.lr_scheduler


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of get_lr and of the order of steps
        yield


def sgd(*rates):
    return torch.optim.SGD([{"params": [torch.nn.Parameter(torch.ones(1))], "lr": rate} for rate in rates], lr=0.3)


def rates(optimizer):
    return [group["lr"] for group in optimizer.param_groups]


def resumed(make, last_epoch, rate=None):
    """The rates at the start and after a step of a schedule that goes on in the epoch after last_epoch."""
    optimizer = sgd(0.5)
    optimizer.param_groups[0].update(initial_lr=0.5, lr=0.5 if rate is None else rate)
    scheduler = make(optimizer, last_epoch)
    first = rates(optimizer)
    scheduler.step()
    return first + rates(optimizer)


def test_asking_for_a_rate_changes_none():
    for step in (1, 3, 30):
        optimizer = sgd(0.5)
        scheduler = schedulers.StepLR(optimizer, step)
        assert scheduler.get_lr() == scheduler.get_last_lr() == rates(optimizer) == [0.5]
    for _ in range(30):
        scheduler.step()
    assert scheduler.get_last_lr() == pytest.approx([0.05]) and scheduler.get_lr() == pytest.approx([0.005])


def test_going_on_from_an_epoch():
    steps = lambda optimizer, epoch: schedulers.StepLR(optimizer, 3, last_epoch=epoch)  # noqa: E731
    assert resumed(steps, 1) == pytest.approx([0.5, 0.05])
    assert resumed(steps, 2) == pytest.approx([0.05, 0.05])
    assert resumed(steps, 5, rate=0.05) == pytest.approx([0.005, 0.005])
    milestones = lambda optimizer, epoch: schedulers.MultiStepLR(optimizer, [2, 2, 5], last_epoch=epoch)  # noqa: E731
    assert resumed(milestones, 1) == pytest.approx([0.005, 0.005])
    assert resumed(milestones, 4, rate=0.005) == pytest.approx([0.0005, 0.0005])
    assert schedulers.MultiStepLR(sgd(0.5), [0, 2]).get_last_lr() == pytest.approx([0.05])


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_warm_restarts_go_on_in_their_cycle(factor):
    """Whatever way leads to an epoch, its rate is the same; also where a cycle begins, and several cycles on."""
    make = lambda optimizer, epoch=-1: schedulers.CosineAnnealingWarmRestarts(  # noqa: E731
        optimizer, 2, factor, 0.01, last_epoch=epoch)
    optimizer, expected = sgd(0.5), []
    scheduler = make(optimizer)
    for _ in range(1000):
        expected += rates(optimizer)
        scheduler.step()
    for epoch in (0, 1, 2, 3, 5, 7, 8, 25, 26, 241, 242, 484, 727, 728, 998):
        if epoch < 998:
            assert resumed(make, epoch) == pytest.approx(expected[epoch + 1:epoch + 3])
        optimizer = sgd(0.5)
        scheduler = make(optimizer)
        scheduler.step(epoch)
        assert rates(optimizer) == pytest.approx([expected[epoch]])
        scheduler.step()
        assert rates(optimizer) == pytest.approx([expected[epoch + 1]])


def test_a_step_that_fails_changes_nothing():
    def decay(epoch):
        if epoch == 2 and not mended:
            raise ArithmeticError
        return 0.5 ** epoch
    optimizer, mended = sgd(0.8), []
    scheduler = schedulers.LambdaLR(optimizer, decay)
    scheduler.step()
    state = copy.deepcopy(scheduler.state_dict())
    with pytest.raises(ArithmeticError):
        scheduler.step()
    assert scheduler.state_dict() == state and rates(optimizer) == [0.4]
    mended.append(True)
    scheduler.step()
    assert scheduler.last_epoch == 2 and rates(optimizer) == [0.2]


def test_a_period_of_no_epochs():
    for make in (lambda o: schedulers.StepLR(o, 0), lambda o: schedulers.CosineAnnealingLR(o, 0)):
        with pytest.raises(ZeroDivisionError):
            make(sgd(0.5)).step()


def test_groups_that_come_later():
    def grown(make):
        optimizer = sgd(0.5, 0.1)
        scheduler = make(optimizer)
        optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(1))], "lr": 0.7})
        return optimizer, scheduler
    optimizer, scheduler = grown(lambda o: schedulers.ReduceLROnPlateau(o, patience=0, factor=0.5, min_lr=0.2))
    for _ in range(10):
        scheduler.step(1.0)
    assert rates(optimizer) == pytest.approx([0.2, 0.1, 0.2]) and scheduler.min_lrs == [0.2] * 3
    _, scheduler = grown(lambda o: schedulers.ReduceLROnPlateau(o, patience=0, min_lr=[0.1, 0.2]))
    scheduler.step(1.0)
    with pytest.raises(RuntimeError, match=r"number of param groups in the `optimizer` \(3\) differs .* \(2\)"):
        scheduler.step(1.0)
    for make in (lambda o: schedulers.LambdaLR(o, lambda e: 0.9), lambda o: schedulers.MultiplicativeLR(o, lambda e: 0.9),
                 lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3),
                 lambda o: schedulers.CyclicLR(o, 0.1, 0.2, cycle_momentum=False)):
        optimizer, scheduler = grown(make)
        with pytest.raises(ValueError, match="2 learning rates, but the optimizer has 3 param groups"):
            scheduler.step()
    optimizer, scheduler = grown(lambda o: schedulers.ExponentialLR(o, 0.5))
    scheduler.step()
    assert rates(optimizer) == [0.25, 0.05, 0.35]

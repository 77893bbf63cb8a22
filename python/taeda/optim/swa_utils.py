"""Averages of models over training (Izmailov et al. 2018, arXiv:1803.05407), and of its end exponentially."""

import copy
import itertools

from .. import _C
from ..autograd.modes import no_grad
from ..nn.modules import Module
from .schedule import LRScheduler, listed, rules

__all__ = ["AveragedModel", "SWALR", "update_bn", "get_ema_multi_avg_fn", "get_swa_multi_avg_fn", "get_ema_avg_fn",
           "get_swa_avg_fn"]


def _check_decay(decay):
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _in_place(weight):
    """A function that moves lists of averages; `weight` is a function of how many values they have."""
    def update(averages, params, count):
        _C._optim.move_averages(list(averages), list(params), weight(count))
    return update


def _of_one(weight):
    """A function that gives one moved average."""
    def update(average, param, count):
        moved = average.detach().clone()
        _C._optim.move_averages([moved], [param], weight(count))
        return moved
    return update


def _equal(count):
    return 1 / (int(count) + 1)


def get_ema_multi_avg_fn(decay=0.999):
    """A function that lets lists of averages follow lists of parameters: average * decay + parameter * (1 - decay).

    decay: a scalar in [0, 1], else ValueError; 0.999 unless given

    >>> average = torch.zeros(1)
    >>> torch.optim.swa_utils.get_ema_multi_avg_fn(0.75)([average], [torch.ones(1)], 1)
    >>> average
    tensor([0.2500])
    """
    _check_decay(decay)
    return _in_place(lambda _: 1 - decay)


def get_swa_multi_avg_fn():
    """A function that makes lists of averages those of all models so far: it takes them, the parameters and a scalar, how many
    models were averaged.

    >>> average = torch.zeros(1)
    >>> torch.optim.swa_utils.get_swa_multi_avg_fn()([average], [torch.ones(1)], 3)
    >>> average
    tensor([0.2500])
    """
    return _in_place(_equal)


def get_ema_avg_fn(decay=0.999):
    """A function of an average, a parameter and the number of models: average * decay + parameter * (1 - decay).

    decay: a scalar in [0, 1], else ValueError; 0.999 unless given

    >>> torch.optim.swa_utils.get_ema_avg_fn(0.75)(torch.zeros(1), torch.ones(1), 1)
    tensor([0.2500])
    """
    _check_decay(decay)
    return _of_one(lambda _: 1 - decay)


def get_swa_avg_fn():
    """A function of an average, a parameter and the number of models n, a scalar: average + (parameter - average) / (n + 1).

    >>> torch.optim.swa_utils.get_swa_avg_fn()(torch.zeros(1), torch.ones(1), 3)
    tensor([0.2500])
    """
    return _of_one(_equal)


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those of models over training (Izmailov et al. 2018,
    arXiv:1803.05407).

    model: what is copied
    device: where the copy is; the model's unless given
    avg_fn: a function of average, parameter and number of models, or multi_avg_fn: one of lists; the mean of all unless
        given; both are an AssertionError
    use_buffers: whether buffers are averaged, too, and not copied; False unless given

    Shapes: the model's.

    >>> model = nn.Linear(2, 1)
    >>> averaged = torch.optim.swa_utils.AveragedModel(model)
    >>> averaged.update_parameters(model)
    >>> averaged(torch.ones(3, 2)).shape
    torch.Size([3, 1])
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _C.zeros((), dtype=_C.int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Takes the model as it is now into the averages."""
        mine = itertools.chain(self.module.parameters(), self.module.buffers()) if self.use_buffers else self.parameters()
        others = itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()
        pairs = [(a.detach(), p.detach().to(a.device)) for a, p in zip(mine, others)]
        averages, params = [a for a, _ in pairs], [p for _, p in pairs]
        if self.n_averaged == 0:
            _C._optim.move_averages(averages, params, 1.0)
        elif self.avg_fn is not None:
            moved = [self.avg_fn(a, p, self.n_averaged.to(a.device)) for a, p in pairs]
            _C._optim.move_averages(averages, moved, 1.0)
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, params, self.n_averaged)
        if not self.use_buffers:
            pairs = list(zip(self.module.buffers(), model.buffers()))
            _C._optim.move_averages([a.detach() for a, _ in pairs], [b.detach() for _, b in pairs], 1.0)
        self.n_averaged += 1


def update_bn(loader, model, device=None):
    """Computes the running statistics of a model's batch norms anew, as means over all the batches of a loader.

    loader: batches, or tuples of which the first is one
    model: any module
    device: where batches are moved; None (unless given) for nowhere

    Shapes: batches as the model takes them.

    >>> torch.optim.swa_utils.update_bn([torch.randn(4, 3)], nn.Sequential(nn.BatchNorm1d(3)))
    """
    from ..nn.modules.batchnorm import _BatchNorm
    norms = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not norms:
        return
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    with no_grad():
        for batch in loader:
            if isinstance(batch, (list, tuple)):
                batch = batch[0]
            model(batch if device is None else batch.to(device))
    for norm, momentum in norms.items():
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From each group's rate to swa_lr within anneal_epochs, where it stays.

    swa_lr: the last rate, or one for each group
    anneal_epochs: not negative, else ValueError; 10 unless given
    anneal_strategy: "cos" (unless given) or "linear", else ValueError
    optimizer, last_epoch: as LambdaLR's

    Arguments are scalars.

    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.05).get_last_lr()
    [1.0]
    """

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for rate, group in zip(listed("swa_lr", swa_lr, optimizer), optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_called_within_step()
        step = self._step_count - 1
        return [rules.approached(group["lr"], group["swa_lr"], step, self.anneal_epochs, self._anneal_strategy == "cos")
                for group in self.optimizer.param_groups]

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential

from .common import losses, numbers, small_net


def forward(folder):
    data = TensorDict({"a": torch.randn(3, 2), "b": {"c": torch.arange(3)}}, batch_size=[3])
    both = torch.stack([data, data.clone()], 0)
    both["b", "d"] = both["a"].sum(-1)
    return numbers(both[1, 1:]["a"], both.reshape(6)["b", "c"], both["b", "d"], (data * 2)["a"])


def training(folder):
    net = TensorDictSequential(TensorDictModule(small_net(), in_keys=["x"], out_keys=["hidden"]),
                               TensorDictModule(torch.nn.Linear(3, 1), in_keys=["hidden"], out_keys=["y"]))
    data = TensorDict({"x": torch.randn(8, 4)}, batch_size=[8])
    return losses(net.parameters(), lambda: (net(data)["y"] - 1).square().mean())


def saving(folder):
    net = small_net()
    TensorDict.from_module(net).data.memmap(folder)
    again = small_net()
    TensorDict.load_memmap(folder).to_module(again)
    return numbers(again(torch.ones(2, 4)))

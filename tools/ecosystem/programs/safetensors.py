import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model

from .common import losses, numbers, points, small_net


def forward(folder):
    save_file({"a": torch.randn(4, 6), "b": torch.arange(5), "c": torch.randn(3).bfloat16()}, f"{folder}/x.safetensors",
              metadata={"format": "pt"})
    with safe_open(f"{folder}/x.safetensors", framework="pt", device="cpu") as file:
        part = file.get_slice("a")
        return numbers(part[1:3], file.get_tensor("b"), file.get_tensor("c"), *part.get_shape())


def training(folder):
    (x, y), net = points(), small_net()
    found = losses(net.parameters(), lambda: torch.nn.functional.cross_entropy(net(x), y))
    again = load(save(net.state_dict()))
    return found + numbers(again["0.weight"], again["2.bias"])


def saving(folder):
    net, again = small_net(), small_net()
    save_model(net, f"{folder}/net.safetensors")
    load_model(again, f"{folder}/net.safetensors")
    return numbers(again(torch.ones(2, 4)), *load_file(f"{folder}/net.safetensors").values())

"""Writes torch_2_15.pt and its kind, which PyTorch 2.15 saves and tests read. Run it with a Python that has PyTorch."""

import collections
import pathlib

import torch

folder = pathlib.Path(__file__).parent


def contents():
    base = torch.arange(12.0).view(3, 4)
    tensors = {name: torch.tensor([1, 0, 1]).to(getattr(torch, name)) for name in (
        "float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64",
        "complex128")}
    return {"tensors": tensors, "base": base, "view": base[:, 1:3].t(), "empty": torch.empty(0, 3), "number": torch.tensor(2.5),
            "leaf": torch.ones(2, requires_grad=True), "parameter": torch.nn.Parameter(torch.ones(1)),
            "list": [1, 2.5, None, True, "text", (3, 4j), b"bytes"], "ordered": collections.OrderedDict(a=1),
            "size": torch.Size([2, 3]), "dtype": torch.float16, "device": torch.device("cpu"),
            "sparse": torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))}


if __name__ == "__main__":
    torch.save(contents(), folder / "torch_2_15.pt")
    torch.save(contents()["base"], folder / "torch_legacy.pt", _use_new_zipfile_serialization=False)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(torch.arange(float(p.numel())).view_as(p) + i)
    torch.save(model.state_dict(), folder / "torch_state.pt")

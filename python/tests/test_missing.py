"""What PyTorch has and Taeda has not: it is imported, and its call is an error that names it."""

import importlib
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

import taeda as torch
from taeda._core.stand_ins import StandIn

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(torch.__file__).parent
LINES = (PACKAGE / "absent.txt").read_text(encoding="utf-8").splitlines()
MODULES = [line for line in LINES if ":" not in line]
SAID = re.compile("Taeda (has no|does not)")
NAMES = {line.partition(":")[0]: line.partition(":")[2].split() for line in LINES if ":" in line}


def ours(name):
    return name.replace("torchvision", "taeda.vision", 1) if name.startswith("torchvision") else "taeda" + name[5:]


def compat(program):
    done = subprocess.run([sys.executable, "-B", "-m", "taeda.compat", "-c", program], capture_output=True, text=True)
    return done.stdout + done.stderr


def refusal(call):
    with pytest.raises(NotImplementedError) as caught:
        call()
    return str(caught.value)


def test_every_absent_name_can_be_had_and_says_when_it_is_called_what_is_missing():
    for module, names in NAMES.items():
        at = torch.ops.aten if module == "torch.ops.aten" else importlib.import_module(ours(module))
        for name in names:
            found = getattr(at, name)
            if isinstance(found, StandIn):
                said = refusal(found)
                assert said.startswith(f"{module}.{name}: ") and SAID.search(said)


def test_every_absent_module_can_be_imported():
    for module in MODULES:
        for name in (ours(module), ours(module) + ".inside") if module[-1] != "*" else (ours(module[:-1] + "inside"),):
            assert SAID.search(refusal(importlib.import_module(name).anything))


def test_every_public_module_of_pytorch_can_be_imported():
    lines = (ROOT / "python" / "tests" / "golden" / "modules.txt").read_text(encoding="utf-8").splitlines()
    names = [f"{line.partition(':')[0]}.{last}" for line in lines for last in line.partition(":")[2].split()]
    program = f"import importlib\nfor name in {names!r}: importlib.import_module(name)\nprint(len({names!r}))"
    assert compat(program) == f"{len(names)}\n" and len(names) > 700


def test_what_stands_in_can_be_named_derived_from_and_asked_for():
    from taeda.distributed.fsdp import FullyShardedDataParallel, StateDictType
    from taeda.distributed.tensor import DTensor

    class Strategy(FullyShardedDataParallel):
        kind = StateDictType.FULL_STATE_DICT
    assert not isinstance(torch.ones(1), DTensor) and torch.ones(1).dtype != torch.qint8
    assert torch.nested.nested_tensor is torch.nested.nested_tensor and (DTensor | None) and DTensor[int] is DTensor
    assert "Taeda has no training of sharded parameters (FSDP)" in refusal(Strategy)
    assert "torch.distributed.fsdp.FullyShardedDataParallel.state_dict_type" in refusal(Strategy.state_dict_type)
    assert issubclass(torch.onnx.OnnxExporterError, Exception) and issubclass(torch.utils.cpp_extension.SomeWarning, Warning)
    assert torch.onnx.is_in_onnx_export() is False and torch.utils.cpp_extension.CUDA_HOME is None


@pytest.mark.parametrize("program, said", [
    ("import torch.ao.quantization as q; q.quantize_fx()", "torch.ao.quantization.quantize_fx: Taeda has no quantized tensors"),
    ("import torch; torch.onnx.export()", "torch.onnx.export: Taeda has no exporter to ONNX in Python (the command `taeda exp"),
    ("from torch import nested; nested.nested_tensor()", "torch.nested.nested_tensor: Taeda has no nested tensors"),
    ("from torch.nn import LinearCrossEntropyLoss as L; L()", "PyTorch has torch.nn.LinearCrossEntropyLoss, Taeda does not"),
    ("import torchvision as v; v.models.quantization.resnet18()", "PyTorch has torchvision.models.quantization, Taeda does"),
    ("import torch; torch.optim.Adm", "module 'torch.optim' has no attribute 'Adm'. Did you mean: 'Adam'?"),
    ("import torch; torch.backends.mkldnn.nothing", "module 'torch.backends.mkldnn' has no attribute 'nothing'\n"),
    ("from torch.nn import nothing", "cannot import name 'nothing' from 'taeda.nn'"),
    ("import torch.nothing", "ModuleNotFoundError: No module named 'torch.nothing'\n"),
    ("import torch._six", "ModuleNotFoundError: No module named 'torch._six'\n"),
])
def test_programs(program, said):
    assert said in compat(program)


def test_who_only_asks():
    assert importlib.util.find_spec("taeda.onnx") is not None and importlib.util.find_spec("taeda.nothing") is None
    assert not hasattr(torch, "nothing") and getattr(torch.nn, "nothing", 3) == 3


def test_the_list_is_complete(torch_python):
    done = subprocess.run([sys.executable, "-B", str(ROOT / "tools" / "python" / "absent.py"), "--check"],
                          capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr

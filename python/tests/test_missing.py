"""What PyTorch has and Taeda has not: an error that names it, and nothing that is there is called missing."""

import importlib
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

import taeda as torch

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


def test_every_absent_name_is_named():
    for module, names in NAMES.items():
        at = importlib.import_module(ours(module))
        for name in names:
            with pytest.raises(AttributeError) as caught:
                getattr(at, name)
            said = str(caught.value)
            assert said.startswith(f"module '{module}' has no attribute '{name}': ") and SAID.search(said)


def test_every_absent_module_is_named():
    for module in MODULES:
        for name in (ours(module), ours(module) + ".inside"):
            with pytest.raises(ModuleNotFoundError) as caught:
                importlib.import_module(name)
            assert str(caught.value).startswith(f"No module named '{module}'") and SAID.search(str(caught.value))


@pytest.mark.parametrize("program, said", [
    ("import torch.ao.quantization", "ModuleNotFoundError: No module named 'torch.ao': Taeda has no quantized tensors"),
    ("import torch; torch.onnx.export", "module 'torch' has no attribute 'onnx': Taeda has no exporter to ONNX in Python"),
    ("from torch import nested", "No module named 'torch.nested': Taeda has no nested tensors"),
    ("from torch.distributed.fsdp import FullyShardedDataParallel", "Taeda has no training of sharded parameters (FSDP)"),
    ("from torch.nn import LinearCrossEntropyLoss", "ImportError: cannot import name 'LinearCrossEntropyLoss' from 'torch.nn': "
     "PyTorch has torch.nn.LinearCrossEntropyLoss, Taeda does not"),
    ("import torch; torch.jit.save", "module 'torch.jit' has no attribute 'save': Taeda has no compiler of TorchScript"),
    ("import torchvision; torchvision.models.quantization",
     "module 'torchvision.models' has no attribute 'quantization': PyTorch has torchvision.models.quantization"),
    ("import torch; torch.optim.Adm", "module 'torch.optim' has no attribute 'Adm'. Did you mean: 'Adam'?"),
    ("from torch.nn.functional import conv_tbc", "cannot import name 'conv_tbc' from 'torch.nn.functional': PyTorch has"),
    ("import torch.accelerator.graphs", "No module named 'torch.accelerator.graphs': PyTorch has"),
    ("import torch; torch.backends.mkldnn.nothing", "module 'torch.backends.mkldnn' has no attribute 'nothing'\n"),
    ("import torch.nothing", "ModuleNotFoundError: No module named 'torch.nothing'\n"),
])
def test_programs(program, said):
    assert said in compat(program)


def test_who_only_asks_gets_no_error():
    assert importlib.util.find_spec("taeda.onnx") is None
    assert not hasattr(torch, "onnx") and getattr(torch.nn, "nothing", 3) == 3
    program = "import importlib.util as u, torch; print(u.find_spec('torch.onnx'), hasattr(torch, 'nested'))"
    assert "None False" in compat(program)


def test_the_list_is_complete(torch_python):
    done = subprocess.run([sys.executable, "-B", str(ROOT / "tools" / "python" / "absent.py"), "--check"],
                          capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr

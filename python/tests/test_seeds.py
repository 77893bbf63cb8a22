"""The programs of five tutorials (examples/python/seeds) on simulated devices that answer to "cuda", and what they teach."""

import csv
import os
import pathlib
import re
import subprocess
import sys

import pytest
from ranks import own_port

SEEDS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python" / "seeds"
# Sizes that a tutorial takes for its measurements, and enough for a test.
SMALLER = {"size = 10000": "size = 200", "size = 5000": "size = 200", "size = 1000\n": "size = 200\n",
           "randn(10000, 10000)": "randn(300, 300)"}


def run(name, *arguments, gpus=2, launch=(), cwd=None, timeout=100):
    """What a program prints, run under the alias."""
    path = SEEDS / name
    text = path.read_text(encoding="utf-8")
    smaller = text
    for long, short in SMALLER.items():
        smaller = smaller.replace(long, short)
    if smaller != text:
        path = pathlib.Path(cwd) / path.name
        path.write_text(smaller, encoding="utf-8")
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(own_port()), "OMP_NUM_THREADS": "1",
                   **({"TAEDA_SIM_AS_CUDA": str(gpus)} if gpus else {})}
    done = subprocess.run([sys.executable, "-B", "-m", "taeda.compat", *launch, str(path), *arguments], capture_output=True,
                          text=True, env=environment, cwd=cwd, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def in_order(text, *parts):
    at = 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} is not at its place in\n{text}"
        at = found + len(part)


def test_000_tensors():
    in_order(run("000/tensors.py", gpus=1), "True\n", "1\n0\n", "device(type='cuda')", "tensor([1, 2, 3])\nDevice:  cpu",
             "tensor([4, 5, 6], device='cuda:0')\nDevice:  cuda:0", "-1\n0\n", "Device:  cuda:0\n0\n", "cuda:0\n",
             "device(type='cuda', index=0)")


@pytest.mark.parametrize("gpus", [0, 2])
def test_000_data_parallel(gpus):
    out = run("000/data_parallel.py", gpus=gpus)
    in_order(out, "LinearRegression(\n  (linear): Linear(in_features=2, out_features=5, bias=True)\n)",
             "DataParallel(\n  (module): LinearRegression(\n    (linear): Linear(in_features=2, out_features=5, bias=True)\n"
             "  )\n)")
    losses = [float(v) for v in re.findall(r"loss ([\d.]+)", out)]
    assert losses == sorted(losses, reverse=True)
    assert f"Output on {'cuda:0' if gpus else 'cpu'}" in out


def test_000_ddp():
    out = run("000/ddp.py", launch=["-m", "torch.distributed.run", "--nproc_per_node", "2"])
    for rank in range(2):
        assert f"rank {rank} of 2 replicas agree: True" in out


def test_001():
    in_order(run("001/gpu.py"), "True\n", "tensor([1, 2, 3], device='cuda:0')", "cuda:0\n", "cuda:0 torch.Size([4, 2])")


def test_002_data_parallel():
    in_order(run("002/data_parallel.py"), "devices [0, 1]", "output torch.Size([32, 10]) cuda:0", "as on one device: True")


def test_002_ddp():
    out = run("002/ddp.py")
    for rank in range(2):
        assert re.search(rf"rank {rank} of 2: loss \d\.\d+, output on cuda:{rank}", out)


def test_002_amp():
    in_order(run("002/amp.py"), "output torch.float16 loss torch.float32", "scale 65536.0", "stepped: True")


def test_002_pipe():
    out = run("002/pipe.py", gpus=3)
    assert re.search(r"rank 0: loss .* gradients on cuda:0 and cuda:1", out)
    assert re.search(r"rank 1: loss .* gradients on cuda:1 and cuda:2", out)


CHAPTER = {
    "example_01": ["Is CUDA available? True", "Number of GPUs available: 2", "Current GPU:", "Selected Device:"],
    "example_02": ["Using device: cuda", "CPU Tensor:\n tensor([[", "GPU Tensor:\n tensor([[", "device='cuda:0')",
                   "Is gpu_tensor on GPU? True"],
    "example_03": ["Is CUDA available? True", "Tensor on CPU:", "device='cuda:0')", "Is tensor_gpu on GPU? True",
                   "Tensor moved back to CPU:", "Is tensor_back on GPU? False"],
    "example_04": ["Using device: cuda", "CPU Matrix Multiplication Time:", "GPU Matrix Multiplication Time:",
                   "Maximum difference between CPU and GPU results: 0.0"],
    "example_05": ["Using device: cuda", "CPU Matrix Multiplication Time:", "GPU Matrix Multiplication Time:",
                   "Maximum difference between CPU and GPU results: 0.0"],
    "example_06": ["Model on CPU: cpu", "Model moved to GPU: cuda:0"],
    "example_07": ["Using device: cuda", "Epoch [1/5], Loss: 2.", "Epoch [5/5], Loss: 2."],
    "example_08": ["Is CUDA available? True", "Number of GPUs available: 2", "GPU 0:", "GPU 1:"],
    "example_09": ["Epoch [1/", "Loss:"],
    "example_10": ["Contiguous Tensor Shape: torch.Size([3, 4])", "Reshaped with view: torch.Size([6, 2])",
                   "Non-Contiguous Tensor Shape: torch.Size([4, 3])", "Error with view on non-contiguous tensor: "
                   "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
                   "contiguous subspaces). Use .reshape(...) instead.", "Reshaped with reshape: torch.Size([6, 2])"],
    "example_11": ["Inefficient Data Transfer Time:", "Efficient Data Transfer Time:"],
    "example_12": ["Original Tensor:", "device='cuda:0', requires_grad=True)", "Tensor after ReLU:",
                   "grad_fn=<ReluBackward0>)", "Tensor after in-place addition:", "grad_fn=<AddBackward0>)"],
    "example_13": ["Error with mismatched devices: Expected all tensors to be on the same device, but found at least two "
                   "devices, cuda:0 and cpu!", "Addition Result:\n tensor([[", "device='cuda:0')"],
    "example_14": ["Error due to model on CPU:", "Model Output:\n tensor([[", "device='cuda:0', grad_fn=<AddmmBackward0>)"],
    "example_15": ["Time taken for excessive data transfers:", "Time taken for operations on GPU:"],
    "exercise_1": ["CPU Matrix Multiplication Time:", "GPU Matrix Multiplication Time:", "Maximum difference"],
    "exercise_2": ["Model is on device: cuda:0", "Input tensor is on device: cuda:0", "Output tensor is on device: cuda:0"],
    "exercise_3": ["CUDA Available: True", "Number of GPUs: 2", "Model wrapped with DataParallel", "Model is on device: cuda:0",
                   "Dummy input is on device: cuda:0", "Output shape: torch.Size([32, 10])", "Output is on device: cuda:0"],
}


def test_003_is_whole():
    assert sorted(p.stem for p in (SEEDS / "003").glob("*.py")) == sorted(CHAPTER)


@pytest.mark.parametrize("name", CHAPTER)
def test_003(name, tmp_path):
    in_order(run(f"003/{name}.py", cwd=tmp_path), *CHAPTER[name])


@pytest.mark.parametrize("name", ["example_02", "example_06", "example_07", "example_13", "exercise_2", "exercise_3"])
def test_003_on_the_cpu(name, tmp_path):
    out = run(f"003/{name}.py", gpus=0, cwd=tmp_path)
    assert "cuda:" not in out and "Error" not in out


NAMES = ["conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias",
         "out.weight", "out.bias"]


def test_004_devices():
    out = run("004/devices.py")
    in_order(out, "device(type='cuda', index=0)\n", "device(type='cpu')\n", "(device(type='cpu'), device(type='cpu'))\n",
             "device(type='cuda', index=0)\n", "Expected all tensors to be on the same device",
             "Expected all tensors to be on the same device", "tensor([[ 6,  8],\n        [10, 12]], device='cuda:0')\n",
             "conv1.weight \t\t torch.Size([6, 1, 5, 5])", "fc1.weight \t\t torch.Size([120, 192])",
             *(f"cpu  {n}\n" for n in NAMES), "(conv1): Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1))",
             "(out): Linear(in_features=60, out_features=10, bias=True)", *(f"cuda:0  {n}\n" for n in NAMES),
             "torch.Size([1, 1, 28, 28])\n", "device='cuda:0'", "grad_fn=<AddmmBackward0>)", "cuda\n")


def test_004_run_manager(tmp_path):
    run("004/run_manager.py", "--small", cwd=tmp_path, timeout=110)
    with open(tmp_path / "results.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    assert [(r["batch_size"], r["num_workers"], r["device"]) for r in rows] == [
        (b, w, d) for b in ("100", "500") for w in "01" for d in ("cuda", "cpu")]
    assert all(0 < float(r["loss"]) < 2.5 and 0.05 < float(r["accuracy"]) <= 1 for r in rows)
    events = list((tmp_path / "runs").rglob("events.out.tfevents.*"))
    assert len(events) == 8 and all(e.stat().st_size > 10000 for e in events)

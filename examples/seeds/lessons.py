#!/usr/bin/env python3
"""What each seed program teaches, checked on what it prints: lessons.py NAME PROGRAM [ARGUMENTS...].

The programs run on simulated devices that answer to the name "cuda". Where the lesson is that something takes
longer, they tell the time by a cost model, so that no check depends on how fast this machine is.
"""

import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77  # SKIP_RETURN_CODE of these tests
TIMEOUT = 100


class Failure(Exception):
    """A lesson that the output does not show."""


def check(holds, lesson):
    if not holds:
        raise Failure(lesson)


class Program:
    """A program and what it was told; calling it gives its output."""

    def __init__(self, *command):
        self.command = command

    def environment(self, gpus=2):
        settings = {"OMP_WAIT_POLICY": "passive", "LC_ALL": "C.UTF-8", "COLUMNS": "140"}
        if gpus:
            settings["TAEDA_SIM_AS_CUDA"] = str(gpus)
        return {**{name: value for name, value in os.environ.items() if name != "TAEDA_SIM_COST"}, **settings}

    def __call__(self, *arguments, **settings):
        done = subprocess.run([*self.command, *map(str, arguments)], env=self.environment(**settings),
                              capture_output=True, text=True, timeout=TIMEOUT)
        print(done.stdout + done.stderr, flush=True)
        check(done.returncode == 0, f"the program ends without an error with {arguments}")
        return done.stdout

    def on_cpu(self, *arguments, **settings):
        """Where GPUs are visible and it is told to stay on the CPU, nothing reaches them."""
        out = self("--device", "cpu", *arguments, **settings)
        check("cuda:" not in out, "the device is a parameter: --device cpu stays on the CPU")
        return out


def in_order(text, *parts):
    """Each part is in the text, behind the one before."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        check(found >= 0, f"the output has {part!r} at its place")
        at = found + len(part)


def number(text, label):
    """The number behind the label."""
    match = re.search(re.escape(label) + r"\s*([-+0-9.e]+)", text)
    check(match, f"the output has a number behind {label!r}")
    return float(match[1])


def seconds(text, label):
    check(re.search(re.escape(label) + r" \d+\.\d{4} seconds", text), f"{label} has four decimals")
    return number(text, label)


def losses(text):
    """Those of "loss: A -> B"."""
    match = re.search(r"loss:? (\d+\.\d{4}) -> (\d+\.\d{4})", text)
    check(match, "the output has the first and the last loss, with four decimals")
    return float(match[1]), float(match[2])


def epochs(text, count):
    """The losses of all epochs, with four decimals."""
    found = re.findall(rf"Epoch \[(\d+)/{count}\], Loss: (\d+\.\d{{4}})\n", text)
    check([int(epoch) for epoch, _ in found] == list(range(1, count + 1)), f"{count} epochs are told")
    return [float(loss) for _, loss in found]


def tensors(text):
    """The numbers of each tensor that is printed."""
    return [re.findall(r"-?\d+\.\d+", body) for body in re.findall(r"tensor\(([^)]*)\)", text)]


def difference(text, label, limit):
    check(abs(number(text, label)) <= limit, f"{label} at most {limit}")


# ---- 000: how to use GPUs ----


def lesson_000_availability(program):
    check(program(gpus=2).split() == ["true", "2", "0", "device(type='cuda')"], "two GPUs, the first is current")
    check(program(gpus=1).split()[1] == "1", "one GPU")
    check(program("--device", "cpu").split()[-1] == "device(type='cpu')", "a program can be told to use the CPU")


def lesson_000_creating_and_moving(program):
    out = program()
    in_order(out, "tensor([1, 2, 3])", "Device: cpu", "tensor([4, 5, 6], device='cuda:0')", "Device: cuda:0")
    in_order(out, "\n-1\n0\n", "Device: cuda:0\n0\n", "cuda:0", "device(type='cuda', index=0)",
             "invalid device ordinal")
    program.on_cpu()


def lesson_000_data_parallel(program):
    one, two = program(), program("--device-ids", 2)
    check(number(one, "devices:") == 1 and number(two, "devices:") == 2, "device_ids says how many GPUs work")
    in_order(one, "LinearRegression(\n  (linear): Linear(in_features=2, out_features=5, bias=True)\n)",
             "DataParallel(\n  (module): LinearRegression(")
    first, last = losses(one)
    check(last < first / 10, "the wrapped model learns")
    check(losses(two) == losses(program.on_cpu()) == (first, last), "what is learned is the same on any of them")


def lesson_000_distributed_data_parallel(program):
    for out in program(), program("--device", "cuda"):
        in_order(out, "DistributedDataParallel(\n  (module): LinearRegression(", "same on all: true")
        check(number(out, "processes:") == 2, "two processes")
        first, last = losses(out)
        check(last < first / 10, "they learn")


# ---- 001: data and a model on a GPU ----


def lesson_001_data_and_model(program):
    out = program()
    in_order(out, "tensor([1, 2, 3], device='cuda:0')", "on cuda:0, loss on cuda:0, gradient on cuda:0")
    when = ["before", "with tensors and model", "without them", "after empty_cache"]
    before, full, kept, empty = [
        [int(n) for n in re.search(rf"^{w}: (\d+) .* (\d+) reserved, (\d+) free", out, re.M).groups()] for w in when]
    check(full[0] > before[0] and full[2] < before[2], "tensors and model take memory of the device")
    check(kept[0] == before[0] and kept[1:] == full[1:], "memory that nothing holds stays in the cache")
    check(empty == before, "empty_cache gives it back to the device")
    program.on_cpu()


def lesson_001_cluster(launch):
    for device in "cpu", "cuda":
        out = launch("--device", device, "--steps", 20)
        check("2 processes" in out, "two processes")
        first, last = losses(out)
        check(last < first / 2, "they learn one model")


# ---- 002: several GPUs, mixed precision, model sharding ----


def lesson_002_data_parallel(program):
    for gpus in 2, 3:
        out = program(gpus=gpus)
        check(number(out, "devices:") == gpus, "all GPUs work")
        check("output: [32, 10] on cuda:0" in out, "the results come together on the first")
        difference(out, "difference from one device:", 1e-6)
    program.on_cpu()


def lesson_002_distributed_data_parallel(program):
    for out in program(), program.on_cpu():
        in_order(out, "DistributedDataParallel(\n  (module): SimpleModel(", "output: [32, 10] on c")
        difference(out, "difference of the gradients from one process:", 1e-6)


def lesson_002_mixed_precision(program):
    steps = re.findall(r"output (\w+), loss (\w+) (\d+\.\d{4}), scale (\d+)", program())
    check(len(steps) == 3 and {step[:2] for step in steps} == {("Half", "Float")},
          "the product is computed in half precision, the loss is not")
    check(float(steps[-1][2]) < float(steps[0][2]), "the scaled steps learn")
    check({step[3] for step in steps} == {"65536"}, "a scale that does no harm stays")
    check("BFloat16" in program.on_cpu(), "the CPU has bfloat16 for it")


def lesson_002_pipeline(program):
    for out in program(), program("--processes", 2, gpus=3):
        check("output: [32, 10] on cuda:1" in out, "the output is where the last stage is")
        first, last = losses(out)
        check(last < first, "both stages learn")
        difference(out, "difference from the stages by hand:", 1e-6)
        kept = re.findall(r"^ +\d+  cuda:(\d) .* (\d+)$", out, re.M)
        check(kept == [("0", "2"), ("1", "1")], "with 1F1B the last stage keeps one micro-batch")
        check("with equal stages 33.3 %" in out, "two stages and two micro-batches leave a third idle")
    program.on_cpu()


def lesson_002_rpc(program):
    with tempfile.TemporaryDirectory() as folder:
        for device in "cuda", "cpu":
            common = ["--file", f"{folder}/{device}", "--device", device]
            with subprocess.Popen([*program.command, *common, "--rank", "1"], env=program.environment()) as worker:
                try:
                    out = program(*common, "--rank", 0)
                    check(worker.wait(TIMEOUT) == 0, "the other worker ends without an error")
                finally:
                    worker.kill()
            check("stage 1 at worker0, stage 2 at worker1" in out, "each worker has a stage")
            first, last = losses(out)
            check(last < first, "both stages learn")
            difference(out, "difference from one process:", 1e-6)


# ---- 003: GPU acceleration ----


def lesson_003_example_01_availability(program):
    for gpus in 1, 2:
        out = program(gpus=gpus)
        check("Is CUDA available? true" in out and number(out, "available:") == gpus, f"{gpus} GPUs")
        check(re.search(r"Current GPU: (.+)\nSelected Device: \1\n", out), "the device is selected by its name")
    in_order(program.on_cpu(), "Is CUDA available? false", "Selected Device: CPU")


def lesson_003_example_02_to_device(program):
    out = program()
    on_cpu, on_gpu = tensors(out)
    check(len(on_cpu) == 9 and on_cpu == on_gpu, "to() moves the numbers as they are")
    in_order(out, "CPU Tensor", "GPU Tensor", "device='cuda:0')", "Is gpu_tensor on GPU? true")
    program.on_cpu()


def lesson_003_example_03_cuda_and_cpu(program):
    out = program()
    on_cpu, on_gpu, back = tensors(out)
    check(len(on_cpu) == 4 and on_cpu == on_gpu == back, "cuda() and cpu() move the numbers as they are")
    in_order(out, "Is tensor_gpu on GPU? true", "Is tensor_back on GPU? false")
    program.on_cpu()


def measured(program, *arguments):
    """What it prints on a GPU, and that its times are predicted."""
    out = program(*arguments)
    in_order(out, "Using device: cuda", "the cost model h100 predicts")
    return out


def faster_product(program, size):
    out = measured(program, "--size", size)
    on_cpu, on_gpu = (seconds(out, f"{place} Matrix Multiplication Time:") for place in ["CPU", "GPU"])
    check(on_gpu < on_cpu, "an H100 multiplies faster than this CPU")
    difference(out, "Maximum difference between CPU and GPU results:", 1e-3)
    seconds(program.on_cpu("--size", 50), "CPU Matrix Multiplication Time:")


def lesson_003_example_04_large_product(program):
    faster_product(program, 2000)


def lesson_003_example_05_small_product(program):
    faster_product(program, 1000)


def lesson_003_exercise_1_products(program):
    faster_product(program, 1500)


def lesson_003_example_06_model_to_device(program):
    in_order(program(), "Model on CPU: cpu", "Model moved to GPU: cuda:0")
    check("Model remains on CPU" in program.on_cpu(), "without a GPU the model stays")


def lesson_003_example_07_training(program):
    on_gpu = epochs(program(), 5)
    check(on_gpu == sorted(on_gpu, reverse=True), "the loss falls with every epoch")
    check(on_gpu == epochs(program.on_cpu(), 5), "the GPU learns what the CPU learns")


def lesson_003_example_08_several_gpus(program):
    for gpus in 1, 3:
        names = re.findall(r"^GPU (\d+): .+$", program(gpus=gpus), re.M)
        check(names == [str(i) for i in range(gpus)], "each GPU is named")
    check("No CUDA-compatible GPU found" in program.on_cpu(), "or there is none")


def lesson_003_example_09_data_parallel(program):
    two, one = program(gpus=2), program(gpus=1)
    check("Using 2 GPUs!" in two and "GPUs!" not in one, "the model is wrapped where there are several GPUs")
    together, alone = epochs(two, 3), epochs(one, 3)
    check(together == sorted(together, reverse=True), "the loss falls with every epoch")
    check(all(abs(a - b) < 2e-4 for a, b in zip(together, alone)), "two GPUs learn what one learns")
    program.on_cpu()


def lesson_003_example_10_view_and_reshape(program):
    for out in program(), program.on_cpu():
        in_order(out, "Reshaped with view: [6, 2]", "[4, 3]", "view size is not compatible",
                 "Use .reshape(...) instead", "Reshaped with reshape: [6, 2]")


def lesson_003_example_11_transfers(program):
    out = measured(program, "--size", 1000)
    by_rows, at_once = seconds(out, "Inefficient Data Transfer Time:"), seconds(out, "Efficient Data Transfer Time:")
    check(by_rows > 10 * at_once, "one large transfer is faster than many small ones")
    program.on_cpu("--size", 50)


def lesson_003_example_12_in_place(program):
    for out in program(), program("--device", "cpu"):
        _, after_relu, after_addition = (list(map(float, t)) for t in tensors(out))
        check(all(abs(a + 1 - b) < 2e-4 for a, b in zip(after_relu, after_addition)), "the tensor itself changes")
        in_order(out, "grad_fn=<ReluBackward0>", "grad_fn=<AddBackward0>", "modified by an inplace operation")


def lesson_003_example_13_mismatched_devices(program):
    in_order(program(), "Expected all tensors to be on the same device, but found at least two devices",
             "Addition Result:", "device='cuda:0')")
    check("Error" not in program.on_cpu(), "on one device there is nothing to mismatch")


def lesson_003_example_14_forgotten_model(program):
    in_order(program(), "Error due to model on CPU:", "cuda:0", "Model Output:",
             "device='cuda:0', grad_fn=<AddmmBackward0>)")
    check("Error" not in program.on_cpu(), "on one device nothing can be forgotten")


def lesson_003_example_15_round_trips(program):
    out = measured(program)
    trips = seconds(out, "Time taken for excessive data transfers:")
    staying = seconds(out, "Time taken for operations on GPU:")
    check(trips > 10 * staying, "computing where the data is is faster than moving it to and fro")
    program.on_cpu()


def lesson_003_exercise_2_model(program):
    out = program()
    for what in "Model", "Input tensor", "Output tensor":
        check(f"{what} is on device: cuda:0" in out, f"the {what.lower()} is on the GPU")
    program.on_cpu()


def lesson_003_exercise_3_several_gpus(program):
    two, one = program(gpus=2), program(gpus=1)
    check("Model wrapped" in two and "Model wrapped" not in one, "the model is wrapped where there are several GPUs")
    for out in two, one:
        in_order(out, "Model is on device: cuda:0", "Dummy input is on device: cuda:0", "[32, 10]",
                 "Output is on device: cuda:0")
    program.on_cpu()


# ---- 004: training on a GPU ----


def lesson_004_moving(program):
    out = program()
    in_order(out, "device(type='cuda', index=0)\ndevice(type='cpu')\n", "device(type='cpu'), device(type='cpu')",
             "Expected all tensors to be on the same device", "Expected all tensors to be on the same device",
             "[ 6,  8]", "[10, 12]", "device='cuda:0')", "in module conv1",
             "device='cuda:0', grad_fn=<AddmmBackward0>)")
    places = re.findall(r"^(\S+)  (\w+\.(?:weight|bias))$", out, re.M)
    check([place for place, _ in places] == ["cpu"] * 10 + ["cuda:0"] * 10, "a network is where its parameters are")
    check(len(tensors(out)[-1]) == 10, "a sample gets a number for each class")
    program.on_cpu()


def lesson_004_training(program):
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder, "results.csv")
        arguments = ["--images", "400", "--batch_size", "100,150,200", "--epochs", "2",
                     "--log_dir", folder, "--save", str(results.with_suffix(""))]
        with subprocess.Popen([*program.command, *arguments], env=program.environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            shown = []  # rows, and whether the program had ended when they came
            for line in process.stdout:
                if re.match(r"\D*\d", line):
                    shown.append((line, results.exists()))
            error = process.stderr.read()
        if "cannot find train-images" in error:
            print(error)
            sys.exit(SKIPPED)
        check(process.returncode == 0, error)
        check(len(shown) == 24 and not any(ended for _, ended in shown), "each epoch's row is shown when it ends")
        rows = list(csv.DictReader(results.open()))
    grid = {(row["batch_size"], row["num_workers"], row["device"]) for row in rows}
    check(len(rows) == 24 and len(grid) == 12, "every combination runs once, for two epochs")
    check({device for _, _, device in grid} == {"cuda", "cpu"}, "on the GPU and on the CPU")
    for first, second in zip(rows[::2], rows[1::2]):
        check(float(second["loss"]) < float(first["loss"]), "the second epoch is better than the first")
        check(float(first["run duration"]) < float(second["run duration"]), "a run's time goes on")


def main(name, *command):
    lesson = globals().get(f"lesson_{name}")
    if not lesson:
        sys.exit(f"lessons.py does not say what {name} teaches")
    try:
        lesson(Program(*command))
    except Failure as failure:
        sys.exit(f"{name}: not shown: {failure}")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What a report of a defect says about the machine; `python -m taeda.utils.collect_env` prints it."""

import collections
import importlib.metadata
import os
import platform
import sys

import taeda

_PACKAGES = ("taeda", "numpy", "torch", "torchvision", "pillow", "onnx", "tensorboard", "scipy", "mypy", "lightning")
_LINES = {
    "torch_version": "Version", "is_cuda_available": "Is CUDA available", "cuda_compiled_version": "CUDA used to build",
    "nvidia_gpu_models": "GPU models and configuration", "cpu_info": "CPU", "threads": "Threads", "os": "OS",
    "libc_version": "Libc version", "python_version": "Python version", "python_platform": "Python platform",
    "environment": "Environment", "pip_packages": "Versions of relevant libraries"}

SystemEnv = collections.namedtuple("SystemEnv", _LINES)


def _cpu():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} logical cores"


def _packages():
    for name in _PACKAGES:
        try:
            yield f"{name}=={importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            continue


def get_env_info():
    """What is known, by name."""
    cuda = taeda.cuda.is_available()
    devices = [f"GPU {i}: {taeda.cuda.get_device_name(i)}" for i in range(taeda.cuda.device_count())] if cuda else []
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items())
                if name.startswith(("TAEDA_", "OMP_", "CUDA_VISIBLE", "PYTORCH_"))]
    return SystemEnv(
        torch_version=str(taeda.__version__), is_cuda_available=str(cuda), cuda_compiled_version=str(taeda.version.cuda),
        nvidia_gpu_models="\n".join(devices) or None, cpu_info=_cpu(), threads=str(taeda.get_num_threads()),
        os=platform.platform(), libc_version="-".join(platform.libc_ver()),
        python_version=sys.version.replace("\n", ""), python_platform=platform.platform(),
        environment="\n".join(settings) or None, pip_packages="\n".join(_packages()) or None)


def pretty_str(envinfo):
    """What get_env_info found, in lines."""
    lines = []
    for name, title in _LINES.items():
        value = getattr(envinfo, name)
        lines.append(f"{title}:\n{value}" if value and "\n" in value else f"{title}: {value}")
    return "\n".join(lines)


def get_pretty_env_info():
    return pretty_str(get_env_info())


def main():
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()

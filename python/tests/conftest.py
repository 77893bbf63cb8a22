"""What the tests of the Python package share."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

import taeda

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A shell that starts tests in the background lets them, and what they start, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _same_start():
    """Each test starts from one seed, and leaves the process's settings as it found them."""
    taeda.manual_seed(0)
    yield
    taeda.set_default_dtype(taeda.float32)
    taeda.set_default_device(None)
    taeda.set_printoptions(profile="default", sci_mode=None)
    assert taeda.is_grad_enabled(), "the test left gradients switched off"


@pytest.fixture
def run_python():
    """run_python(source, *arguments, **environment) runs a program in a fresh interpreter and returns what it printed."""
    def run(source, *arguments, options=(), timeout=60, check=True, **environment):
        done = subprocess.run([sys.executable, "-B", *options, "-c", source, *arguments], capture_output=True, text=True,
                              timeout=timeout, env={**os.environ, **environment})
        if not check:
            return done
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    return run


@pytest.fixture
def torch_python():
    """An interpreter that has PyTorch, named by TAEDA_TORCH_PYTHON; without one the test is skipped."""
    found = os.environ.get("TAEDA_TORCH_PYTHON")
    if not found:
        pytest.skip("TAEDA_TORCH_PYTHON names no interpreter with PyTorch")
    return found

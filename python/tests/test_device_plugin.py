"""A type of devices that a plug-in brings has all that the built-in ones have: no list in Python names types."""

import os

import pytest

FOLDER = os.path.join(os.environ["TAEDA_BUILD_DIR"], "python", "tests")
PROGRAM = """
import taeda as torch

assert not hasattr(torch, "toy")  # nobody has named the type yet
assert torch.device("toy:1").type == "toy" and torch.toy.is_available() and torch.toy.device_count() == 2
assert torch.get_device_module("toy") is torch.toy and torch.toy.Stream().device == torch.device("toy:0")
with torch.toy.device(1):
    assert torch.toy.current_device() == 1 and torch.ones(2, device="toy").get_device() == 1
assert torch.amp.is_autocast_available("toy") and not torch.amp.is_autocast_available("meta")
with torch.autocast("toy", dtype=torch.bfloat16):
    assert torch.is_autocast_enabled("toy") and torch.get_autocast_dtype("toy") == torch.bfloat16

named = torch.library.Library("named", "DEF")
named.define("which(Tensor x) -> str")
named.impl("which", lambda x: "the toy's", "Toy")
named.impl("which", lambda x: "the CPU's", "CPU")
assert torch.ops.named.which(torch.ones(1, device="toy")) == "the toy's"
assert torch.ops.named.which(torch.ones(1)) == "the CPU's"

torch.distributed.init_process_group(store=torch.distributed.HashStore(), rank=0, world_size=1, device_id=torch.device("toy:0"))
assert torch.distributed.get_backend() == "gloo"
print("as any other")
"""


@pytest.mark.skipif(not os.path.exists(f"{FOLDER}/libtaeda_toy.so"), reason="plug-ins need a shared libtaeda")
def test_a_type_from_a_plugin(run_python):
    assert run_python(PROGRAM, TAEDA_PLUGIN_PATH=FOLDER) == "as any other\n"


def test_a_type_that_is_not_known(run_python):
    assert "no_such" in run_python("""
import taeda as torch
try:
    torch.amp.is_autocast_available("no_such")
except RuntimeError as error:
    print(error)
""")

"""torch.utils.dlpack and torch.nn.attention."""

import taeda as torch

from taeda.nn.attention import SDPBackend, sdpa_kernel
from taeda.utils import dlpack


def test_capsules():
    x = torch.ones(2)
    assert dlpack.from_dlpack(dlpack.to_dlpack(x)).data_ptr() == x.data_ptr()


def test_a_choice_of_kernels_changes_nothing():
    q = torch.randn(1, 2, 4, 8)
    with sdpa_kernel(SDPBackend.MATH):
        a = torch.nn.functional.scaled_dot_product_attention(q, q, q)
    assert torch.equal(a, torch.nn.functional.scaled_dot_product_attention(q, q, q))

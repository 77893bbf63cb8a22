#!/usr/bin/env python3
"""Checks that Python reads what pickle_save writes: pickles.py FILE, which tests/io/pickle_test.cpp kept.

Made with PyTorch 2.15. tests/io/data/values.pt is a file that passed; the test compares pickles with it.
"""

import sys

import torch


def main():
    read = torch.load(sys.argv[1], weights_only=True)
    base = torch.arange(6.0).reshape(2, 3)
    assert list(read) == ["matrix", "views", "int", "large", "real", "text", "yes", "nothing", "pair", "dtypes",
                          "weight", 7], list(read)
    assert read["matrix"].equal(base)
    row, turned = read["views"]
    assert row.equal(base[1]) and turned.equal(base.t())
    assert row.untyped_storage().data_ptr() == turned.untyped_storage().data_ptr()
    assert (read["int"], read["large"], read["real"], read["text"]) == (-3, 2**40, 0.25, "Ä")
    assert read["yes"] is True and read["nothing"] is None and read["pair"] == (1, "two") and read[7] == []
    for name, tensor in read["dtypes"].items():
        assert tensor.equal(torch.tensor([0, 1, 3]).to(getattr(torch, name))), name
    assert len(read["dtypes"]) == 12
    assert read["weight"].requires_grad and read["weight"].tolist() == [5.0]
    print("ok")


if __name__ == "__main__":
    main()

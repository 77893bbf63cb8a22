"""Examples in docstrings run, and how many names have one may only grow."""

import doctest
import pathlib
import sys
import warnings

import pytest
import taeda as torch
import taeda.nn.functional as F
from taeda import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools/docs"))
import docstrings  # noqa: E402

# Shares of names with a docstring, with one that names shapes, with an example.
LEAST = (0.99, 0.95, 0.95)


@pytest.fixture
def group_of_one():
    """Examples of torch.distributed are of a group of one process."""
    if not torch.distributed.is_gloo_available():
        yield False
        return
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    yield True
    torch.distributed.destroy_process_group()


def test_examples_run(group_of_one):
    parser, runner, said = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False), []
    for text, name in docstrings.documented().items():
        if ">>>" not in text or name.startswith("taeda.distributed.") and not group_of_one:
            continue
        torch.manual_seed(0)
        example = parser.get_doctest(text, {"torch": torch, "nn": nn, "F": F}, name, None, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runner.run(example, out=said.append)
    assert runner.tries > 500
    assert not runner.failures, "".join(said)


def test_names_have_docstrings_shapes_and_examples():
    rows = docstrings.counts()
    total = sum(len(names) for _, names, *_ in rows)
    for column, (what, least) in enumerate(zip(("text", "shapes", "example"), LEAST), 2):
        share = 1 - sum(len(row[column]) for row in rows) / total
        assert share >= least, f"{share:.3f} of {total} names have {what}: tools/docs/docstrings.py --missing lists the others"

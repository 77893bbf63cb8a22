"""Every signature of the table of operations: by position, by keyword, with defaults, subclasses, wrong types and out."""

import functools
import warnings

import pytest
import samples
import taeda as torch

SPACES = {"": torch._C, "Tensor": torch._C.TensorBase}
TABLES = sorted({table for table, *_ in torch._C._signatures()})
# Nothing to compare: values of fresh memory, of random numbers from elsewhere, of the process.
UNDEFINED = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted", "resize_"}
# Operations whose arguments no world fits; others' tests call them.
MOST_UNTRIED = 0.05
# Operations of the library that PyTorch has taken from torch: test_error_words.py.
REMOVED = {"cholesky", "qr", "symeig"}


def rows(table):
    for space, name, method, signatures in torch._C._signatures():
        if space == table:
            for number, signature in enumerate(signatures):
                yield name, method, number, signature


def function_of(table, name):
    space = SPACES.get(table)
    return getattr(space if space is not None else getattr(torch._C, "_" + table), name)


@functools.lru_cache(None)
def found(table):
    """[(name, number, function, signature, sample)] of a table, and the names of those without a sample."""
    with_sample, without = [], []
    for name, method, number, signature in rows(table):
        if table in SPACES and name in REMOVED:
            continue
        function = function_of(table, name)
        sample = samples.find(name, function, signature)
        if sample is None:
            without.append(name)
        else:
            with_sample.append((name, number, function, signature, sample))
    return with_sample, without


def arguments(sample):
    return [v for p, v in sample if not p[3]], {p[0]: v for p, v in sample if p[3]}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def all_rows():
    for table in TABLES:
        yield from found(table)[0]


def test_most_operations_have_a_sample():
    for table in TABLES:
        with_sample, without = found(table)
        assert len(without) <= MOST_UNTRIED * (len(with_sample) + len(without)), (table, len(with_sample), without)


def test_by_keyword():
    wrong = []
    for name, number, function, signature, sample in all_rows():
        positional, named = arguments(sample)
        receiver = signature[0]
        first = [positional[0]] if receiver >= 0 and positional else []
        by_name = {p[0]: v for p, v in sample[len(first):]}
        if name in UNDEFINED:
            continue
        try:
            if not samples.equal(samples.call(function, positional, named), samples.call(function, first, by_name)):
                wrong.append(f"{name} {number}: another result")
        except Exception as error:
            wrong.append(f"{name} {number}: {type(error).__name__} {error}"[:300])
    assert not wrong, "\n".join(wrong)


def test_defaults_may_be_given():
    """What a signature shows as a default gives the result of leaving it out."""
    wrong = []
    for name, number, function, signature, sample in all_rows():
        positional, named = arguments(sample)
        if name in UNDEFINED:
            continue
        expected = samples.call(function, positional, named)
        for parameter, kind, default, keyword_only in signature[2]:
            if default in (None, "...", "None") or parameter == "out":
                continue
            try:
                value = {"true": True, "false": False}.get(default) if default in ("true", "false") else eval(
                    default, {"torch": torch})
            except (SyntaxError, NameError):
                wrong.append(f"{name} {number}: the default of {parameter} is no Python: {default}")
                continue
            try:
                if not samples.equal(expected, samples.call(function, positional, {**named, parameter: value})):
                    wrong.append(f"{name} {number}: another result with {parameter}={default}")
            except Exception as error:
                wrong.append(f"{name} {number}, {parameter}={default}: {type(error).__name__} {error}"[:300])
    assert not wrong, "\n".join(wrong)


class Named(torch.Tensor):
    pass


def test_subclasses_are_taken():
    def other(value):
        if isinstance(value, torch.Tensor):
            return value.as_subclass(Named)
        return [other(v) for v in value] if isinstance(value, list) else value

    wrong = []
    for name, number, function, signature, sample in all_rows():
        positional, named = arguments(sample)
        if name in UNDEFINED:
            continue
        try:
            torch.manual_seed(1)
            got = function(*(other(samples.detached(v)) for v in positional),
                           **{k: other(samples.detached(v)) for k, v in named.items()})
            if not samples.equal(samples.call(function, positional, named), got):
                wrong.append(f"{name} {number}: another result")
        except Exception as error:
            wrong.append(f"{name} {number}: {type(error).__name__} {error}"[:300])
    assert not wrong, "\n".join(wrong)


def test_wrong_types_are_named():
    """Any argument of a foreign type is a TypeError that names the operation and what it takes."""
    wrong = []
    for name, number, function, signature, sample in all_rows():
        positional, named = arguments(sample)
        for i in range(signature[0] >= 0, len(positional)):
            spoiled = positional[:i] + [object()] + positional[i + 1:]
            try:
                function(*spoiled, **named)
                wrong.append(f"{name} {number}: takes an object in place {i}")
            except TypeError as error:
                if "()" not in str(error) or "object" not in str(error):
                    wrong.append(f"{name} {number}: says {error}"[:300])
            except Exception as error:
                wrong.append(f"{name} {number}: {type(error).__name__} {error}"[:300])
        try:
            function(*positional, **named, no_such_argument=1)
            wrong.append(f"{name} {number}: takes any keyword")
        except TypeError as error:
            if "no_such_argument" not in str(error):
                wrong.append(f"{name} {number}: says {error}"[:300])
    assert not wrong, "\n".join(wrong)


def test_out():
    wrong = []
    for name, number, function, signature, sample in all_rows():
        kinds = {p[0]: p[1] for p in signature[2]}
        if "out" not in kinds or name in UNDEFINED:
            continue
        positional, named = arguments(sample)
        expected = samples.call(function, positional, named)
        single = isinstance(expected, torch.Tensor)
        out = torch.empty(0, dtype=expected.dtype) if single else tuple(torch.empty(0, dtype=t.dtype) for t in expected)
        try:
            torch.manual_seed(1)
            got = function(*positional, **named, out=out)
            if (got is not out) if single else any(a is not b for a, b in zip(got, out)):
                wrong.append(f"{name} {number}: gives another object")
            if not samples.equal(tuple(expected) if not single else expected, out):
                wrong.append(f"{name} {number}: another result")
        except Exception as error:
            wrong.append(f"{name} {number}: {type(error).__name__} {error}"[:300])
    assert not wrong, "\n".join(wrong)


def test_methods_in_place_give_their_receiver():
    wrong = []
    for name, number, function, signature, sample in found("Tensor")[0]:
        if not name.endswith("_") or name.endswith("__"):
            continue
        positional, named = arguments(sample)
        receiver = positional[0].clone()
        torch.manual_seed(1)
        if function(receiver, *(samples.detached(v) for v in positional[1:]), **named) is not receiver:
            wrong.append(name)
    assert not wrong, wrong

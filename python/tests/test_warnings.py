"""Warnings of the library and of the package: which there are, where they point, and that a filter can make them errors."""

import json
import os
import pathlib
import threading
import warnings

import pytest

import taeda as torch

GOLDEN = pathlib.Path(__file__).parent / "golden"
TABLE = GOLDEN / "warning_calls.json"

# What PyTorch says, by its first words, that would not be true here or not help.
NOT_HERE = {
    "Sparse invariant checks are implicitly disabled": "they are always made",
    "Validating sparse tensor invariants because weights_only=True": "they are always made",
    "Sparse CSR tensor support is in beta": "of PyTorch's development",
    "index_reduce() is in beta": "of PyTorch's development",
    "ComplexHalf support is experimental": "what it lacks says so by an error",
    "torch.quantize_per_tensor": "there is no such function",
    "The PyTorch API of nested tensors": "there are none",
    "enable_nested_tensor is True": "there are none, whatever the layer is",
    "at::nuclear_norm is deprecated": "it is PyTorch's interpreter's",
    "_aminmax is deprecated": "there is no such function",
    "put_ does not have a deterministic": "it has",
    "Using padding='same' with even kernel": "nothing is copied for it",
    "masked_scatter_ received a mask with dtype": "the error that follows says so",
    "__array": "NumPy's copies are asked for as NumPy 2 does",
    "backward hook <built-in function abs>": "a copy has the hooks",
    "Defining your `__torch_function__` as a plain": "it works as one",
    "'has_": "there are no such names",
    "`torch._utils.is_compiling`": "there is no such name",
    "`apply_permutation`": "there is no such name",
    "`torch.utils._pytree._register": "there is no such name",
}
# Calls with the words that are said here alone.
SAID_HERE = {
    "torch.compile(lambda a: a)": "that nothing is compiled",
    "torch.ones(1).expand(3)[torch.tensor([0])] = 2": "the name of the operation that this is here, index_put_",
    "torch.asarray(b'abcd', dtype=torch.uint8)": "nothing: the bytes are copied",
    "torch.unsqueeze_copy(x, 0, out=torch.ones(5))": "nothing: it takes no out",
    "torch.std_mean(torch.ones(1))": "the name of the operation that this is here, std",
    "torch.var_mean(torch.ones(3, 1), 1)": "likewise, var",
    "x.storage().size()": "it again, where all are asked for",
    "x.add(2, y)": "the form of the function, which the method's is told as",
    "x.sub(2, y)": "likewise",
    "torch.stft(torch.ones(16), 8)": "nothing: the error comes first",
}


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """The table as the calls fill it here, and the warnings that do not name the line that called."""
    import subprocess
    import sys
    folder = tmp_path_factory.mktemp("calls")
    out, places = folder / "ours.json", folder / "places.json"
    program = ("import runpy, sys, taeda.compat; taeda.compat.install(); sys.argv = sys.argv[1:]\n"
               "runpy.run_path(sys.argv[0], run_name='__main__')")
    done = subprocess.run([sys.executable, "-B", "-c", program, *map(str, (GOLDEN / "warning_calls.py", TABLE, out, places))],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text()), json.loads(places.read_text())


def same(ours, theirs):
    """Whether one of two texts begins as the other, whatever the spaces."""
    a, b = ours.replace(" ", ""), theirs.replace(" ", "")
    return a.startswith(b) or b.startswith(a)


def test_calls_warn_as_pytorchs(calls):
    wrong = []
    for group, expected in json.loads(TABLE.read_text(encoding="utf-8")).items():
        for call, said in expected.items():
            wanted = [w for w in said["warnings"] if not any(w[1].startswith(words) for words in NOT_HERE)]
            got = calls[0][group][call]["warnings"]
            fits = len(got) == len(wanted) and all(a[0] == b[0] and same(a[1], b[1]) for a, b in zip(got, wanted))
            if not fits and call not in SAID_HERE:
                wrong.append(f"{group} | {call}\n    {got}\n    instead of {wanted}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong)


def test_each_names_the_line_that_called(calls):
    assert not calls[1]


def test_what_differs_still_does(calls):
    """A line of the two lists above is taken out when there is no call left that needs it."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    texts = [w[1] for expected in table.values() for said in expected.values() for w in said["warnings"]]
    ours = [w[1] for found in calls[0].values() for said in found.values() for w in said["warnings"]]
    for words in NOT_HERE:
        assert any(t.startswith(words) for t in texts), words
        assert not any(t.startswith(words) for t in ours), words
    for call in SAID_HERE:
        group = next(g for g, expected in table.items() if call in expected)
        assert calls[0][group][call]["warnings"] != table[group][call]["warnings"], call


def resized(n):
    return torch.add(torch.ones(n), 1, out=torch.ones(3))


@pytest.mark.parametrize("n", [4, 1 << 16])  # with the GIL, and without
def test_a_filter_makes_it_an_error(n):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="An output with one or more elements was resized"):
            resized(n)
        with pytest.raises(UserWarning, match="not a leaf"):
            (torch.ones(2, requires_grad=True) * 2).grad
        with pytest.raises(UserWarning, match="reference cycle"):
            torch.set_warn_always(True)
            try:
                (torch.ones(n, requires_grad=True) ** 2).sum().backward(create_graph=True)
            finally:
                torch.set_warn_always(False)
        warnings.simplefilter("ignore")
        assert resized(n).shape == (n,)


def test_an_error_is_not_hidden_by_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError, match="return_complex"):  # and the window is missing
            torch.stft(torch.ones(16), 8)


def test_it_is_shown_once_for_a_line():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            resized(4)
    assert [w.filename for w in seen] == [__file__]


def test_hooks_give_their_warnings_themselves():
    x = torch.ones(1 << 16, requires_grad=True)
    caught = []

    def hook(grad):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                resized(4)
            except UserWarning as e:
                caught.append(str(e))
    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert len(caught) == 1 and "was resized" in caught[0]


def test_many_threads_give_their_own():
    def work(n):
        with_error = []
        for _ in range(20):
            try:
                resized(n)
            except UserWarning as e:
                with_error.append(f"[{n}]" in str(e))
        results[n] = with_error
    results = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threads = [threading.Thread(target=work, args=(n,)) for n in (4, 5, 1 << 15, 1 << 16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert all(found == [True] * 20 for found in results.values()) and len(results) == 4


def test_once_in_a_process_or_each_time():
    def said(always):
        torch.set_warn_always(always)
        assert torch.is_warn_always_enabled() is always
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(2):
                torch.cross(torch.ones(3), torch.ones(3))  # of the library
                torch.meshgrid(torch.ones(2), torch.ones(2))  # of the package
                torch.compile(abs)
        return len(seen)
    said(False)
    try:
        assert (said(False), said(True)) == (0, 6)
    finally:
        torch.set_warn_always(False)


# Threads that Python does not know

THREADS = """
import ctypes, os, sys, warnings
import taeda
warner = ctypes.CDLL(os.environ["TAEDA_WARNER"])
"""


@pytest.fixture
def run_warner(run_python):
    if "TAEDA_WARNER" not in os.environ:
        pytest.skip("TAEDA_WARNER names no library")
    return lambda source, **options: run_python(THREADS + source, check=False, **options)


def test_a_thread_of_the_librarys_is_heard(run_warner):
    done = run_warner("warner.warn_on_a_thread(b'from nowhere')\nprint('on')")
    assert done.returncode == 0 and done.stdout == "on\n" and "RuntimeWarning: from nowhere" in done.stderr, done.stderr


def test_an_error_that_nobody_waits_for_goes_to_the_hook(run_warner):
    done = run_warner("warnings.simplefilter('error')\n"
                      "sys.unraisablehook = lambda e: print(e.exc_type.__name__, e.exc_value)\n"
                      "warner.warn_on_a_thread(b'from nowhere')")
    assert done.returncode == 0 and done.stdout == "RuntimeWarning from nowhere\n", done.stderr


def test_a_call_that_pybind11_or_ctypes_makes(run_warner):
    done = run_warner("warnings.simplefilter('error')\n"
                      "try:\n"
                      "    ctypes.PyDLL(os.environ['TAEDA_WARNER']).warn_here(b'in a call')\n"
                      "    for _ in range(3): taeda.ones(2)\n"
                      "except UserWarning as e:\n"
                      "    print('caught', e)")
    assert done.returncode == 0 and done.stdout == "caught in a call\n", done.stderr


def test_children_of_a_fork_warn(run_warner):
    done = run_warner("pid = os.fork()\n"
                      "warner.warn_on_a_thread(b'in the child' if pid == 0 else b'in the parent')\n"
                      "if pid: sys.exit(os.waitpid(pid, 0)[1])")
    assert done.returncode == 0, done.stderr
    assert "RuntimeWarning: in the child" in done.stderr and "RuntimeWarning: in the parent" in done.stderr

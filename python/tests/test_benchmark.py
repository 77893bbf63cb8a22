"""torch.utils.benchmark: timings of statements, and their tables."""

import time

import pytest

import taeda as torch
from taeda.utils import benchmark


def test_statements_see_names_and_setup():
    seen = []
    timer = benchmark.Timer("seen.append(y)", setup="y = torch.ones(2).sum().item()", globals={"seen": seen}, label="Sum",
                            sub_label="two", description="here")
    found = timer.timeit(10)
    assert len(seen) == 12 and seen[0] == 2 and found.number_per_run == 10 and len(found.times) == 1
    lines = repr(found).splitlines()
    assert lines[1:4] == ["Sum: two", "here", "setup: y = torch.ones(2).sum().item()"]
    assert lines[4].split()[1] in ("ns", "us", "ms") and lines[5] == "  1 measurement, 10 runs , 1 thread"


def test_times_are_times():
    found = benchmark.Timer(lambda: time.sleep(0.002)).blocked_autorange(min_run_time=0.02)
    assert found.median >= 0.002 and found.mean >= 0.002 and sum(found.raw_times) >= 0.02 and found.iqr >= 0
    steady = benchmark.Timer("time.sleep(0.002)", globals={"time": time}).adaptive_autorange(0.5, max_run_time=5.0)
    assert steady.median >= 0.002 and len(steady.raw_times) > 3


def test_threads_are_those_asked_for():
    seen, before = [], torch.get_num_threads()
    benchmark.Timer("seen.append(torch.get_num_threads())", globals={"seen": seen}, num_threads=2).timeit(1)
    assert set(seen) == {2} and torch.get_num_threads() == before


def measured(sub_label, description, seconds, threads=1):
    spec = benchmark.TaskSpec("x", "pass", "", "Add", sub_label, description, None, threads)
    return benchmark.Measurement(10, [10 * s for s in seconds], spec)


def test_numbers_of_measurements():
    found = measured("64", "one", [1e-6, 2e-6, 3e-6])
    assert found.median == pytest.approx(2e-6) and found.iqr == pytest.approx(1e-6) and found.has_warnings
    merged, = benchmark.Measurement.merge([found, measured("64", "one", [4e-6])])
    assert merged.times == pytest.approx([1e-6, 2e-6, 3e-6, 4e-6])
    with pytest.raises(AttributeError, match="'Measurement' object has no attribute 'nothing'"):
        found.nothing


def test_tables():
    table = benchmark.Compare([measured("64", "one", [3.8e-6]), measured("128", "two", [3.4e-6]),
                               measured("64", "two", [7.6e-6], 2)])
    assert str(table).splitlines() == [
        "[---------- Add ----------]",
        "             |  one  |  two",
        "1 thread: -----------------",
        "      64     |  3.8  |     ",
        "      128    |       |  3.4",
        "2 threads: ----------------",
        "      64     |       |  7.6",
        "",
        "Times are in microseconds (us)."]
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        table.extend_results([3])


def test_what_is_not_there():
    with pytest.raises(NotImplementedError, match="Taeda does not count instructions"):
        benchmark.Timer("pass").collect_callgrind()
    with pytest.raises(ValueError, match="not of c\\+\\+"):
        benchmark.Timer("x;", language="c++")

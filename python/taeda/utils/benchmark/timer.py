"""Statements and how long they take."""

import collections
import statistics
import sys
import time
import timeit

from ... import _C

_UNITS = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))


def _unit(seconds):
    """(seconds of a unit, its name) in which a time is a number from 1 to 1,000."""
    fitting = [u for u in _UNITS if u[0] <= seconds]
    return fitting[-1] if fitting else _UNITS[0]


def timer():
    """Seconds, when the current device has done what it was given."""
    from ... import accelerator
    if accelerator.is_available():
        accelerator.synchronize()
    return time.perf_counter()


TaskSpec = collections.namedtuple("TaskSpec", ["stmt", "setup", "global_setup", "label", "sub_label", "description", "env",
                                               "num_threads"], defaults=("", None, None, None, None, 1))


class Measurement:
    """The times of one statement: `raw_times`, each of `number_per_run` runs."""

    def __init__(self, number_per_run, raw_times, task_spec, metadata=None):
        self.number_per_run, self.raw_times, self.task_spec = number_per_run, list(raw_times), task_spec
        self.metadata = metadata

    def __getattr__(self, name):
        if name in TaskSpec._fields:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute '{name}'")

    @property
    def times(self):
        """Seconds of one run, for each of the raw times."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self):
        return statistics.median(self.times)

    @property
    def mean(self):
        return statistics.fmean(self.times)

    def _quarter(self, part):
        times = sorted(self.times)
        place = part * (len(times) - 1)
        low = int(place)
        return times[low] + (place - low) * (times[min(low + 1, len(times) - 1)] - times[low])

    @property
    def iqr(self):
        """The width of the middle half of the times."""
        return self._quarter(0.75) - self._quarter(0.25)

    @property
    def has_warnings(self):
        """Whether the times scatter by more than a tenth."""
        return len(self.raw_times) > 1 and self.iqr > 0.1 * self.median

    @property
    def significant_figures(self):
        """How many digits of the median the times agree about, from 2 to 5."""
        if len(self.raw_times) < 2 or not self.iqr:
            return 2 if len(self.raw_times) < 2 else 5
        relative, digits = self.iqr / self.median / len(self.raw_times) ** 0.5, 1
        while relative < 0.5 and digits < 5:
            relative, digits = relative * 10, digits + 1
        return max(digits, 2)

    @property
    def title(self):
        spec = self.task_spec
        title = spec.label or spec.stmt
        if spec.sub_label:
            title += f": {spec.sub_label}" if spec.label else f"; {spec.sub_label}"
        return title

    @property
    def as_row_name(self):
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    @staticmethod
    def merge(measurements):
        """One for each statement, with the times of all its measurements."""
        groups = {}
        for m in measurements:
            groups.setdefault(m.task_spec, []).append(m)
        return [Measurement(1, [t for m in group for t in m.times], spec) for spec, group in groups.items()]

    def __repr__(self):
        scale, unit = _unit(self.median)
        lines = [f"<torch.utils.benchmark.utils.common.Measurement object at {hex(id(self))}>", self.title]
        if self.task_spec.description:
            lines.append(self.task_spec.description)
        if self.task_spec.setup not in ("", "pass"):
            lines.append(f"setup: {self.task_spec.setup}")
        if len(self.raw_times) == 1:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        else:
            low, high = self._quarter(0.25) / scale, self._quarter(0.75) / scale
            lines += [f"  Median: {self.median / scale:.2f} {unit}",
                      f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})"]
        count, threads = len(self.raw_times), self.task_spec.num_threads
        lines.append(f"  {count} measurement{'s' * (count > 1)}, {self.number_per_run} runs "
                     f"{'per measurement' if count > 1 else ''}, {threads} thread{'s' * (threads > 1)}")
        return "\n".join(lines)


class Timer:
    """A statement that is timed on `num_threads` threads after `setup`; `label`, `sub_label` and `description` name its table,
    row and column."""

    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=timer, globals=None, label=None, sub_label=None,
                 description=None, env=None, num_threads=1, language="python"):
        if str(getattr(language, "name", language)).lower() not in ("python", "py"):
            raise ValueError(f"torch.utils.benchmark.Timer: Taeda times statements of Python, not of {language}")
        if global_setup:
            raise ValueError("torch.utils.benchmark.Timer: global_setup is for statements of C++, which Taeda does not time")
        from ... import __name__ as own
        stmt, setup = (_dedented(text) if isinstance(text, str) else text for text in (stmt, setup))
        names = {"torch": sys.modules[own], **(globals or {})}
        self._timer = timeit.Timer(stmt, setup, timer, names)
        stmt, setup = (text if isinstance(text, str) else repr(text) for text in (stmt, setup))
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _times(self, number, more=lambda times: False):
        """Raw times of `number` runs each, until `more` says that there are enough."""
        threads = _C.get_num_threads()
        _C.set_num_threads(self._task_spec.num_threads)
        try:
            times = [self._timer.timeit(number)]
            while more(times):
                times.append(self._timer.timeit(number))
            return times
        finally:
            _C.set_num_threads(threads)

    def timeit(self, number=1000000):
        """One time of `number` runs, after a hundredth of them to warm up."""
        self._times(max(number // 100, 2))
        return Measurement(number, self._times(number), self._task_spec)

    def _block(self, least):
        """As many runs as take long enough for the clock not to count."""
        cost = min(self._timer_cost() for _ in range(5))
        number = 1
        while True:
            taken, = self._times(number)
            if taken >= least and cost / max(taken, 1e-9) <= 1e-4 or taken > 1.0:
                return number
            number *= 10

    def _timer_cost(self):
        clock = self._timer.timer
        start = clock()
        return clock() - start

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Times of equal blocks of runs, for `min_run_time` seconds."""
        number = self._block(min_run_time / 1000)
        return Measurement(number, self._until(number, callback, lambda times: sum(times) < min_run_time), self._task_spec)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """Times of equal blocks of runs, until their scatter is less than `threshold` of the median."""
        number = self._block(0.001)

        def more(times):
            made = Measurement(number, times, self._task_spec)
            steady = len(times) > 3 and made.iqr / made.median < threshold
            return sum(times) < max_run_time and (sum(times) < min_run_time or not steady)
        return Measurement(number, self._until(number, callback, more), self._task_spec)

    def _until(self, number, callback, more):
        def going_on(times):
            if callback is not None:
                callback(number, times[-1])
            return more(times)
        return self._times(number, going_on)

    def collect_callgrind(self, *args, **kwargs):
        raise NotImplementedError("torch.utils.benchmark.Timer.collect_callgrind: Taeda does not count instructions")


def _dedented(text):
    import textwrap
    return textwrap.dedent(text).strip()


class Compare:
    """A table of measurements: a column for each description, a row for each sub_label and number of threads."""

    def __init__(self, results):
        self._results, self._trim = list(results), False

    def extend_results(self, results):
        """Adds measurements."""
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self):
        """Prints only the digits that the times agree about."""
        self._trim = True

    def colorize(self, rowwise=False):
        """Accepted; tables have no colours."""

    def highlight_warnings(self):
        """Accepted; tables mark nothing."""

    def print(self):
        print(str(self))

    def __str__(self):
        merged = Measurement.merge(self._results)
        labels = list(dict.fromkeys(m.label for m in merged))
        return "\n".join(self._table(label, [m for m in merged if m.label == label]) for label in labels)

    def _cell(self, found, scale):
        if found is None:
            return ""
        if not self._trim:
            return f"{found.median / scale:.1f}"
        return f"{float(f'{found.median / scale:.{found.significant_figures}g}'):g}"

    def _table(self, label, measurements):
        scale, unit = _unit(min(m.median for m in measurements))
        columns = list(dict.fromkeys(m.description for m in measurements))
        found = {(m.num_threads, m.as_row_name, m.description): m for m in measurements}
        rows, seen = [], list(dict.fromkeys((m.num_threads, m.as_row_name) for m in measurements))
        for threads in sorted({t for t, _ in seen}):
            rows.append((f"{threads} thread{'s' * (threads > 1)}: ", None))
            rows += [(f"      {name}", [self._cell(found.get((threads, name, c)), scale) for c in columns])
                     for t, name in seen if t == threads]
        heads = [c or "" for c in columns]
        first = max(len(name) for name, _ in rows)
        widths = [max([len(h), *(len(cells[i]) for _, cells in rows if cells)]) for i, h in enumerate(heads)]
        line = " " * first + "".join(f"  |  {h:^{w}}" for h, w in zip(heads, widths))
        out = [f"[{f' {label} ' if label else '':-^{max(len(line) - 2, 0)}}]", line.rstrip()]
        for name, cells in rows:
            out.append(name + "-" * (len(line) - len(name)) if cells is None else
                       f"{name:<{first}}" + "".join(f"  |  {c:>{w}}" for c, w in zip(cells, widths)))
        return "\n".join(out) + f"\n\nTimes are in {_NAMES[unit]} ({unit}).\n"


_NAMES = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}

"""Profiles, recorded by the library: every operation, backward, copy and kernel, on all threads."""

import enum
import functools
import os
import socket
import time

from .. import _C
from .._core.warnings import warn


class ProfilerActivity(enum.Enum):
    """What is recorded. CUDA stands for every accelerator, simulated ones included."""

    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 3
    PrivateUse1 = 4
    HPU = 5


class DeviceType(enum.Enum):
    """Where an event ran; CUDA stands for every accelerator. Named as in PyTorch's `torch.autograd`."""

    CPU = 0
    CUDA = 1


class Interval:
    """A stretch of time, in microseconds from the start of the recording."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        """Its length."""
        return self.end - self.start


class ProfilerAction(enum.Enum):
    """What a profile does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities():
    from .. import accelerator
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if accelerator.is_available() else {ProfilerActivity.CPU}


class record_function:
    """Names a stretch of the program, as `with` block or decorator."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args
        self._open = []

    def __enter__(self):
        self._open.append(_C._profiler.Range(self.name))
        self._open[-1].enter()
        return self

    def __exit__(self, *error):
        self._open.pop().leave()

    def __call__(self, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            with record_function(self.name):
                return function(*args, **kwargs)
        return call


def kineto_available():
    """Whether there are records of operations and kernels: always."""
    return True


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """Skips `skip_first` steps, then in turn idles for `wait` steps, warms up for `warmup` and records for `active`;
    `repeat` times, 0 for ever."""
    if not (wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0):
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), active={active} "
            f"(need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0).")

    def action(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        cycle = wait + warmup + active
        if repeat > 0 and step // cycle >= repeat:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE
    return action


def _always(step):
    return ProfilerAction.RECORD


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """For `on_trace_ready`: writes each recording to `dir_name`, as TensorBoard's plug-in expects it."""
    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, name))
    return handler


class FunctionEventAvg:
    """Sums over the events of one name; times are microseconds, memory bytes."""

    def __init__(self, row, cpu):
        self.key, self.count, self.is_on_device = row.key, row.count, row.on_device
        self.device_type = DeviceType.CUDA if row.on_device else DeviceType.CPU
        self.input_shapes = row.shapes
        self.cpu_time_total, self.self_cpu_time_total = row.cpu_time_total / 1e3, row.self_cpu_time_total / 1e3
        self.device_time_total, self.self_device_time_total = row.device_time_total / 1e3, row.self_device_time_total / 1e3
        self.cpu_memory_usage, self.self_cpu_memory_usage = row.cpu_memory_usage, row.self_cpu_memory_usage
        self.device_memory_usage, self.self_device_memory_usage = row.device_memory_usage, row.self_device_memory_usage
        self.cuda_time_total, self.self_cuda_time_total = self.device_time_total, self.self_device_time_total
        self.cpu_time, self.device_time = self.cpu_time_total / row.count, self.device_time_total / row.count

    def __repr__(self):
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total:.3f}us "
                f"cpu_time={self.cpu_time:.3f}us self_device_time={self.self_device_time_total:.3f}us "
                f"device_time={self.device_time:.3f}us input_shapes={self.input_shapes}>")


class EventList(list):
    """The rows of a profile's table."""

    def __init__(self, averages):
        super().__init__(FunctionEventAvg(row, True) for row in averages.rows())
        self._averages = averages

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
              max_shapes_column_width=80, header=None, top_level_events_only=False, time_unit=None):
        """The table as text; `sort_by` as "self_cpu_time_total", the largest first."""
        text = self._averages.table((sort_by or "").replace("device_", "cuda_"), row_limit, max_name_column_width or 55)
        return header + "\n" + text if header else text

    @property
    def self_cpu_time_total(self):
        return sum(row.self_cpu_time_total for row in self)

    def __str__(self):
        return self.table()


class FunctionEvent:
    """One event: times in microseconds from the start of the recording."""

    def __init__(self, event):
        self.name, self.key, self.count = event.name, event.name, 1
        self.device_type = DeviceType.CUDA if event.on_device else DeviceType.CPU
        self.thread, self.input_shapes = event.thread, event.shapes
        self.start_us, self.end_us = event.start / 1e3, event.end / 1e3
        self.time_range = Interval(self.start_us, self.end_us)
        self.cpu_time_total = 0.0 if event.on_device else self.end_us - self.start_us
        self.self_cpu_time_total = event.self_cpu_time / 1e3
        self.device_time_total = event.device_time / 1e3
        self.cpu_time, self.device_time = self.cpu_time_total, self.device_time_total
        self.self_device_time_total = self.device_time_total
        self.cpu_memory_usage, self.device_memory_usage = event.cpu_memory, event.device_memory
        self.is_on_device = event.on_device

    def __repr__(self):
        return f"<FunctionEvent name={self.name} thread={self.thread} cpu_time={self.cpu_time_total:.3f}us>"


class profile:
    """Records in a `with` block, or from `start` to `stop`. One at a time in a process.

    With a `schedule`, `step()` ends a step, and `on_trace_ready(profile)` is called when a recording is complete.
    """

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False, experimental_config=None,
                 execution_trace_observer=None, acc_events=False, use_cuda=None, custom_trace_id_callback=None,
                 post_processing_timeout_s=None):
        wanted = set(activities or ())
        for each in wanted:
            if not isinstance(each, (ProfilerActivity, dict)):
                raise TypeError(f"Expected ProfilerActivity or dict, got {type(each)}")
        activities = set(activities) if activities is not None else {ProfilerActivity.CPU, ProfilerActivity.CUDA}
        if use_cuda is not None:
            activities = activities | {ProfilerActivity.CUDA} if use_cuda else activities - {ProfilerActivity.CUDA}
        if not activities:
            raise AssertionError("No valid profiler activities found")
        if ProfilerActivity.CUDA in wanted and ProfilerActivity.CUDA not in supported_activities():
            warn("CUDA is not available, disabling CUDA profiling")
        self.activities = activities
        self.schedule, self.on_trace_ready = schedule or _always, on_trace_ready
        self._steps_told = schedule is not None
        self._settings = (ProfilerActivity.CPU in activities, ProfilerActivity.CUDA in activities, record_shapes,
                          profile_memory, with_modules)
        self.step_num = 0
        self._recording = self._complete = self._step = None

    def start(self):
        self._change(ProfilerAction.NONE, self.schedule(self.step_num))
        self._begin_step()

    def stop(self):
        self._end_step()
        self._change(self.schedule(self.step_num), None)

    def step(self):
        """The end of a step; the schedule says what happens in the next."""
        self._end_step()
        before = self.schedule(self.step_num)
        self.step_num += 1
        self._change(before, self.schedule(self.step_num))
        self._begin_step()

    def _begin_step(self):
        if self._steps_told and self._recording is not None:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self):
        if self._step is not None:
            self._step.__exit__()
            self._step = None

    def _change(self, before, after):
        """From the action of one step to that of the next; None is the end."""
        none, warmup, record, save = ProfilerAction
        recording = before in (record, save)
        if recording and (before is save or after in (none, warmup, None)):
            self._finish()
        elif before is warmup and after in (none, None):
            self._discard()
        if after in (record, save) and (self._recording is None or before is warmup):
            self._discard()
            self._begin()
        elif after is warmup and self._recording is None:
            self._begin()

    def _begin(self):
        self._recording = _C._profiler.Profile(*self._settings)

    def _discard(self):
        if self._recording is not None:
            self._recording.stop()
            self._recording = None

    def _finish(self):
        self._recording.stop()
        self._complete, self._recording = self._recording, None
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    def _done(self):
        if self._complete is None:
            raise AssertionError("Profiler must be initialized before getting key averages")
        return self._complete

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """Sums by name, and with `group_by_input_shape` by the shapes of the tensors (record_shapes)."""
        return EventList(self._done().key_averages(group_by_input_shape))

    def events(self):
        return [FunctionEvent(event) for event in self._done().events()]

    def export_chrome_trace(self, path):
        """Writes the trace for chrome://tracing and Perfetto; gzipped where the name ends so."""
        if not path.endswith(".gz"):
            return self._done().export_chrome_trace(path)
        import gzip
        plain = path[:-3] + ".part"
        self._done().export_chrome_trace(plain)
        with open(plain, "rb") as source, gzip.open(path, "wb") as file:
            file.write(source.read())
        os.unlink(plain)
        return None

    def table(self, *args, **kwargs):
        return self.key_averages().table(*args, **kwargs)

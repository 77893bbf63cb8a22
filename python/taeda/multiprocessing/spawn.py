"""Starts several processes that run one function, and passes on how they fail."""

import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
import sys
import tempfile
import traceback
import weakref

from .._core.warnings import warn

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"


class ProcessException(Exception):
    """A process that was started failed; `error_index` says which, `error_pid` what its number was."""

    __slots__ = ["error_index", "error_pid"]

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """By an exception, whose traceback is in the text."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """By a signal, or by leaving with a status that is not 0."""

    __slots__ = ["exit_code"]

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _end_with_parent():
    """Has the kernel interrupt this process when the one that started it ends, by whatever cause."""
    import ctypes
    pr_set_pdeathsig = 1
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGINT)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGINT)


def _wrap(fn, i, args, error_file):
    """Runs in the process."""
    if sys.platform == "linux" and multiprocessing.get_start_method(allow_none=True) != "forkserver":
        _end_with_parent()
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the process that started this one was interrupted, too
    except Exception:
        with open(error_file, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that were started together. `folder`, where there is one, is removed with the last of them."""

    def __init__(self, processes, error_files, folder=None):
        self.processes = processes
        self.error_files = error_files
        self._remove_folder = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True) if folder else lambda: None
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self):
        return [int(process.pid) for process in self.processes]

    def _join_procs_with_timeout(self, timeout):
        for process in self.processes:
            process.join(timeout)

    def join(self, timeout=None, grace_period=None):
        """Waits until one ends, at most `timeout` seconds; True when all have ended well.

        When one has failed, the others are asked to end, killed if that takes longer than `grace_period` (30 s), and
        ProcessRaisedException or ProcessExitedException is raised.
        """
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(self.sentinels.keys(), timeout=timeout)
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)
            process = self.processes[index]
            process.join()
            if process.exitcode != 0:
                failed = index
                break
        if failed is None:
            if not self.sentinels:
                self._remove_folder()
            return not self.sentinels
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._join_procs_with_timeout(grace_period if grace_period is not None else 30)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()
        self._raise(failed)

    def _raise(self, index):
        process, path = self.processes[index], self.error_files[index]
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            text = ""
        finally:
            self._remove_folder()
        if not text:
            code = process.exitcode
            if code < 0:
                try:
                    name = signal.Signals(-code).name
                except ValueError:
                    name = f"<Unknown signal {-code}>"
                raise ProcessExitedException(f"process {index:d} terminated with signal {name}", error_index=index,
                                             error_pid=process.pid, exit_code=code, signal_name=name)
            raise ProcessExitedException(f"process {index:d} terminated with exit code {code:d}", error_index=index,
                                         error_pid=process.pid, exit_code=code)
        raise ProcessRaisedException(f"\n\n-- Process {index:d} terminated with the following error:\n{text}",
                                     index, process.pid)


class SpawnContext(ProcessContext):
    """What spawn(join=False) returns."""


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs fn(i, *args) in processes i = 0 ... nprocs - 1. With `join` waits for them and raises what one of them failed
    by; else returns a ProcessContext."""
    context = multiprocessing.get_context(start_method)
    # A folder of mode 0700: nobody else can put a file where a process writes how it failed.
    folder = tempfile.mkdtemp(prefix="taeda-errors-")
    files = [os.path.join(folder, f"{i}.txt") for i in range(nprocs)]
    started = ProcessContext([], files, folder)
    for i in range(nprocs):
        process = context.Process(target=_wrap, args=(fn, i, args, files[i]), daemon=daemon)
        process.start()
        started.processes.append(process)
        started.sentinels[process.sentinel] = i
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """start_processes with new interpreters; `fn` must be found by name in its module."""
    if start_method != "spawn":
        warn(f"This method only supports start_method=spawn (got: {start_method}).\n"
             "To use a different start_method use:\n\t\t torch.multiprocessing.start_processes(...)",
             FutureWarning)
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")

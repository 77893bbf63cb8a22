"""One epoch of a loader: by this process, by its threads, or by processes."""

import collections
import concurrent.futures
import multiprocessing
import os
import select
import signal
import socket
import time

from ... import _C
from ..._core.pytree import mapped
from ..._core.failures import ExceptionWrapper
from . import channel, worker
from ..._core.warnings import warn

_END_SECONDS = 5.0  # how long workers have to end by themselves


def _pinned(batch):
    """A batch with its tensors, and what else can be pinned, where accelerators copy from without waiting."""
    def can_be(value):
        return hasattr(value, "pin_memory")
    return mapped(lambda leaf: leaf.pin_memory() if can_be(leaf) else leaf, batch, is_leaf=can_be)


class Iterator:
    """What they share: the next list of numbers, pinning, counting."""

    def __init__(self, loader):
        self._loader = loader
        self._device = loader.pin_memory_device
        if self._device and loader.pin_memory:
            warn("pin_memory_device is deprecated, the current accelerator will be used as the device, ignore "
                 f"pin_memory_device='{self._device}'.")
        self._pin = loader.pin_memory and _has_accelerator()
        # First the order begins, then the seed is drawn, once: programs with a seed see the same numbers as in PyTorch.
        self._numbers = iter(loader._index_sampler)
        self._base_seed = loader._draw_seed()
        self._start()

    def _start(self):
        """Begins an epoch."""
        self._given = 0

    def reset(self):
        """Begins another epoch."""
        self._numbers = iter(self._loader._index_sampler)
        self._start()

    def __iter__(self):
        return self

    def __next__(self):
        batch = self._next()
        self._given += 1
        if self._loader._iterable:
            self._loader._warn_of_more(self._given)
        return _pinned(batch) if self._pin else batch

    next = __next__

    def __len__(self):
        return len(self._loader._index_sampler)


def _has_accelerator():
    from ... import accelerator
    if accelerator.is_available():
        return True
    warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.")
    return False


class SingleProcess(Iterator):
    """Each batch is made when it is asked for."""

    def __init__(self, loader):
        assert loader.timeout == 0, "_SingleProcessDataLoaderIter requires timeout == 0"
        super().__init__(loader)
        self._fetch = loader._fetcher()().fetch

    def _next(self):
        return self._fetch(next(self._numbers))


def needs_no_process(loader):
    """Whether a worker would only copy rows of tensors: threads do that without Python."""
    return (loader._auto_collation and loader.worker_init_fn is None and not loader._iterable
            and worker.row_reader(loader.dataset, loader.collate_fn) is not None)


class Threads(Iterator):
    """Batches of data in memory, gathered ahead of time by threads."""

    def __init__(self, loader):
        self._fetch = loader._fetcher()().fetch
        self._pool = concurrent.futures.ThreadPoolExecutor(loader.num_workers, "DataLoader")
        super().__init__(loader)

    def _start(self):
        super()._start()
        self._ahead = collections.deque()
        for _ in range(self._loader.prefetch_factor * self._loader.num_workers):
            self._request()

    def _request(self):
        numbers = next(self._numbers, None)
        if numbers is not None:
            self._ahead.append(self._pool.submit(self._fetch, numbers))

    def _next(self):
        if not self._ahead:
            raise StopIteration
        batch = self._ahead.popleft()
        try:
            return batch.result(self._loader.timeout or None)
        except concurrent.futures.TimeoutError:
            raise RuntimeError(f"DataLoader timed out after {self._loader.timeout} seconds") from None
        finally:
            self._request()

    def __del__(self):
        self._pool.shutdown(wait=False, cancel_futures=True)


class _Worker:
    """A process, our end of its channel, and messages that wait for room in it."""

    def __init__(self, loader, context, number, base_seed):
        self.end, theirs = channel.pair()
        parent = None if context.get_start_method() == "forkserver" else os.getpid()
        fetcher = loader._fetcher()
        self.process = context.Process(
            target=worker.run, args=(theirs, parent, fetcher.func, *fetcher.args, base_seed, loader.worker_init_fn, number,
                                     loader.num_workers), daemon=True)
        try:
            self.process.start()
        except BaseException:
            self.end.close()
            raise
        finally:
            theirs.close()
        self.waiting = collections.deque()
        self.active = True

    def send(self, value):
        self.waiting.append(channel.Message(value))
        self.flush()

    def flush(self):
        """Sends what there is room for."""
        while self.waiting:
            try:
                self.waiting[0].send(self.end, socket.MSG_DONTWAIT)
            except (BlockingIOError, BrokenPipeError, ConnectionError):
                return  # no room, or no process: whoever waits for its answer finds out
            self.waiting.popleft().close()

    def hang_up(self):
        """Ends the channel for the worker and all that inherited our end."""
        try:
            self.end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.end.close()
        self.waiting.clear()


class Processes(Iterator):
    """Batches that workers make, each in its turn."""

    def __init__(self, loader):
        self._workers = []
        self._open = True
        self._pid = os.getpid()
        super().__init__(loader)

    def _start(self):
        super()._start()
        loader = self._loader
        if loader.prefetch_factor == 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        if not self._workers:
            context = loader.multiprocessing_context or multiprocessing.get_context()
            for number in range(loader.num_workers):
                self._workers.append(_Worker(loader, context, number, self._base_seed))
        self._turn = 0
        self._sent = 0
        self._expected = collections.deque()  # (number of the batch, worker), in the order of their numbers
        self._arrived = {}
        for _ in range(loader.prefetch_factor * loader.num_workers):
            self._request()

    def reset(self):
        """Begins the next epoch with the workers of the last."""
        for number, made_by in list(self._expected):
            if number not in self._arrived:
                self._receive(made_by)
        for each in self._workers:
            each.active = True
            each.send((-1, worker.Resume()))
        for each in self._workers:
            while not isinstance(self._receive(each)[1], worker.Resume):
                pass
        super().reset()

    def _request(self):
        """Has the next active worker make one more batch."""
        try:
            numbers = next(self._numbers)
        except StopIteration:
            return
        for _ in self._workers:
            chosen = self._workers[self._turn % len(self._workers)]
            self._turn += 1
            if chosen.active:
                chosen.send((self._sent, numbers))
                self._expected.append((self._sent, chosen))
                self._sent += 1
                return

    def _next(self):
        while True:
            if not self._expected:
                if not self._loader.persistent_workers:
                    self.shutdown()
                raise StopIteration
            batch = self._next_answer()
            if isinstance(batch, worker.EndOfIteration):
                self._request()
                continue
            self._request()
            if isinstance(batch, ExceptionWrapper):
                batch.reraise()
            return batch

    def _next_answer(self):
        """The answer to the oldest request or, if the order does not matter, the first that comes."""
        if self._loader.in_order:
            number, made_by = self._expected.popleft()
            while number not in self._arrived:
                self._receive(made_by)
            found = number, self._arrived.pop(number)
        else:
            if not self._arrived:
                self._receive(*dict.fromkeys(made_by for _, made_by in self._expected))
            number = next(iter(self._arrived))
            made_by = next(w for n, w in self._expected if n == number)
            self._expected.remove((number, made_by))
            found = number, self._arrived.pop(number)
        if isinstance(found[1], worker.EndOfIteration):
            made_by.active = False
            # What was asked of it beyond its end is answered in the same way: nobody waits for that.
            gone = [entry for entry in self._expected if entry[1] is made_by]
            for entry in gone:
                self._expected.remove(entry)
            if self._loader.persistent_workers:
                for entry in gone:
                    while entry[0] not in self._arrived:
                        self._receive(made_by)
            for entry in gone:
                self._arrived.pop(entry[0], None)
        return found[1]

    def _receive(self, *workers):
        """Waits for a message of one of them, and keeps what it brings."""
        timeout = self._loader.timeout
        deadline = time.monotonic() + timeout if timeout else None
        waiting_for = select.poll()
        by_fd = {}
        for each in workers:
            by_fd[each.end.fileno()] = by_fd[each.process.sentinel] = each
            waiting_for.register(each.process.sentinel, select.POLLIN)
        while True:
            for each in workers:
                each.flush()
                waiting_for.register(each.end.fileno(), select.POLLIN | (select.POLLOUT if each.waiting else 0))
            left = None if deadline is None else max(0, (deadline - time.monotonic()) * 1000)
            ready = waiting_for.poll(left)
            if not ready and deadline is not None and time.monotonic() >= deadline:
                self.shutdown(patience=0)  # it is what has not answered in time
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
            readable = [fd for fd, events in ready if events & ~select.POLLOUT]
            for fd in sorted(readable, key=lambda fd: by_fd[fd].end.fileno() != fd):
                each = by_fd[fd]
                try:
                    each.end.setblocking(False)
                    number, answer = channel.receive(each.end)
                except BlockingIOError:
                    self._fail(each)
                except (EOFError, ConnectionError):
                    self._fail(each)
                self._arrived[number] = answer
                return number, answer

    def _fail(self, dead):
        """A worker is gone that somebody waits for."""
        dead.process.join(_END_SECONDS)
        code, pid = dead.process.exitcode, dead.process.pid
        self.shutdown()
        if code is not None and code < 0:
            name = signal.strsignal(-code) or str(-code)
            cause = f"DataLoader worker (pid {pid}) is killed by signal: {name}. "
            if -code == signal.SIGBUS:
                cause += ("It is possible that dataloader's workers are out of shared memory. Please try to raise your "
                          "shared memory limit.")
        else:
            cause = (f"DataLoader worker (pid {pid}) exited unexpectedly with exit code {code}. Details are lost due to "
                     "multiprocessing. Rerunning with num_workers=0 may give better error trace.")
        raise RuntimeError(f"DataLoader worker (pid(s) {pid}) exited unexpectedly") from RuntimeError(cause)

    def shutdown(self, patience=_END_SECONDS):
        """Ends the workers; those that do not end by themselves in so many seconds are killed."""
        if not self._open or self._pid != os.getpid():
            return  # a child of fork has a copy, and the workers are not its own
        self._open = False
        self._expected.clear()
        self._arrived.clear()
        for each in self._workers:
            each.hang_up()
        deadline = time.monotonic() + patience
        for each in self._workers:
            each.process.join(max(0, deadline - time.monotonic()))
            if each.process.is_alive():
                each.process.kill()
                each.process.join()

    def __del__(self):
        try:
            self.shutdown()
        except (AttributeError, TypeError):
            pass  # the interpreter ends, or the iterator was never complete

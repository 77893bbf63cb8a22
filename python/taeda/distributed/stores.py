"""What stores do with values that grow and with queues, by what every kind of store can do.

A queue `key` is the keys `key/queue/pushed` and `key/queue/popped`, which count, and `key/queue/<n>`, its values. Who takes a
value claims it first, by a text that no other process writes: where two come at once one of them finds the other's.
"""

import secrets
import time
from datetime import timedelta

from .. import _C

Store = _C._distributed.Store
_PAUSE = 0.001  # seconds between two looks at what another process is about to change
_LOOK = timedelta(milliseconds=100)  # between two at who is first in a queue


class QueueEmptyError(_C.DistError):
    """A queue had nothing to pop. The argument is a text.

    >>> issubclass(torch.distributed.QueueEmptyError, RuntimeError)
    True
    """


class _Deadline:
    def __init__(self, store):
        self.end = time.monotonic() + store.timeout.total_seconds()

    def left(self):
        return timedelta(seconds=max(self.end - time.monotonic(), _PAUSE))

    def passed(self):
        return time.monotonic() >= self.end


def _claim(store, key):
    """Whether a key without a value is this call's now."""
    token = secrets.token_hex(16)
    return store.compare_set(key, "", token) == token.encode()


def _number(store, key):
    return int(store.get(key)) if store.check([key]) else 0


def append(self, key, value):
    """Puts `value` behind what the key holds; a key that does not exist holds nothing."""
    lock, deadline = f"{key}/append", _Deadline(self)
    while not _claim(self, lock):
        if deadline.passed():
            raise _C.DistError(f"append: another process has been appending to key '{key}' for longer than {self.timeout}")
        time.sleep(_PAUSE)
    try:
        before = self.get(key) if self.check([key]) else b""
        self.set(key, before + (value.encode() if isinstance(value, str) else value))
    finally:
        self.delete_key(lock)


def queue_push(self, key, value):
    """Puts a value at the end of a queue, which any process may pop. `check` and `wait` know keys, not queues."""
    self.set(f"{key}/queue/{self.add(f'{key}/queue/pushed', 1) - 1}", value)


def queue_pop(self, key, block=True):
    """Takes the first value of a queue; waits for one, up to the store's timeout. Without `block` an empty queue is a
    QueueEmptyError."""
    deadline, popped = _Deadline(self), f"{key}/queue/popped"
    while True:
        number = _number(self, popped)
        place = f"{key}/queue/{number}"
        if not block and not self.check([place]):
            if _number(self, popped) == number:
                raise QueueEmptyError(f"queue {key} is empty")
            continue
        try:
            self.wait([place], min(deadline.left(), _LOOK))
        except _C.DistError:
            if deadline.passed():
                raise
            continue  # perhaps another process took the value that this one has been waiting for
        if _claim(self, place + "/claimed"):
            if _number(self, popped) == number:  # else it was taken, and its claim removed, since we looked
                break
            self.delete_key(place + "/claimed")
        elif deadline.passed():
            raise _C.DistError(f"queue_pop: another process has been taking a value of queue '{key}' for longer than "
                               f"{self.timeout}")
        time.sleep(_PAUSE)
    value = self.get(place)
    self.add(popped, 1)
    self.delete_key(place)
    self.delete_key(place + "/claimed")
    return value


def queue_len(self, key):
    """How many values a queue has."""
    return _number(self, f"{key}/queue/pushed") - _number(self, f"{key}/queue/popped")


def clone(self):
    """The store itself, which threads may share."""
    return self


def barrier(self, key, world_size, timeout=None):
    """Returns when `world_size` processes have called it for the key, which may be used again."""
    turn = (self.add(f"{key}/barrier", 1) - 1) // world_size
    if self.add(f"{key}/barrier/{turn}/here", 1) == world_size:
        self.set(f"{key}/barrier/{turn}", "")
    self.wait([f"{key}/barrier/{turn}"], self.timeout if timeout is None else timeout)


def has_extended_api(self):
    """Whether there are append, multi_get, multi_set and queues: in all stores."""
    return True


for _function in (append, barrier, clone, queue_push, queue_pop, queue_len, has_extended_api):
    setattr(Store, _function.__name__, _function)

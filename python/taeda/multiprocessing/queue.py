"""Queues of processes. Python's own send tensors through shared memory once this package is imported."""

from multiprocessing.queues import Queue, SimpleQueue

from . import reductions

__all__ = ["ConnectionWrapper", "Queue", "SimpleQueue"]

reductions.init_reductions()


class ConnectionWrapper:
    """A pipe's end; what it has beside `send` and `recv` is the end's own."""

    def __init__(self, conn):
        self.conn = conn

    def send(self, obj):
        self.conn.send(obj)

    def recv(self):
        return self.conn.recv()

    def __getattr__(self, name):
        if name == "conn":
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'conn'")
        return getattr(self.conn, name)

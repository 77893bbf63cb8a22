"""Descriptors on their way from one process to another, kept until they are fetched.

Note [Kept descriptors]
What travels is a name and a token; a socket of that name gives the descriptor to whoever has the token, once. The name is an
abstract one, which lives no longer than the socket. A process that ends before all is fetched leaves a copy of itself that does
nothing else but give the rest out, and ends when it has, or when the process that had started the other ends.
"""

import os
import secrets
import select
import signal
import socket
import struct
import threading
import warnings
from multiprocessing import process, util

_TOKEN_BYTES = 16
_SECONDS = 60  # how long an answer may take
_PRIORITY = -10  # of the finalizer: a queue's feeder, which is where tensors are pickled, is joined at -5


class Shelf:
    """The descriptors of this process that nobody has fetched yet."""

    def __init__(self):
        self.lock, self.fds = threading.Lock(), {}
        self.server = self.thread = self.name = None
        self.stopping = False

    def put(self, fd):
        """Keeps a copy of a descriptor; the name and the token by which it is fetched."""
        token = secrets.token_bytes(_TOKEN_BYTES)
        with self.lock:
            if self.server is None:
                self._open()
            self.fds[token] = os.dup(fd)
            return self.name, token

    def _open(self):
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.name = b"\0taeda-" + secrets.token_hex(_TOKEN_BYTES).encode()
        self.server.bind(self.name)
        self.server.listen(128)
        self.thread = threading.Thread(target=self._serve, name="taeda.multiprocessing.kept", daemon=True)
        self.thread.start()

    def _serve(self):
        while not self.stopping:
            self._answer()

    def _answer(self):
        try:
            end, _ = self.server.accept()
        except OSError:
            self.stopping = True
            return
        with end:
            try:
                end.settimeout(_SECONDS)
                _, user, _ = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
                token = end.recv(_TOKEN_BYTES)
                if user not in (0, os.geteuid()):
                    return
                with self.lock:
                    fd = self.fds.pop(token, None)
                if fd is not None:
                    try:
                        socket.send_fds(end, [b"1"], [fd])
                    finally:
                        os.close(fd)
            except OSError:
                pass  # whoever asked has gone

    def leave(self):
        """At the end of a process that another one started: has a copy of it give out what is left."""
        parent = process.parent_process()
        if self.server is None or parent is None or not self.fds:
            return
        self.stopping = True
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            end.connect(self.name)  # wakes the thread, which must not answer what the copy answers
        self.thread.join(_SECONDS)
        try:
            watched = os.pidfd_open(parent.pid)
        except (OSError, AttributeError):
            return  # it has ended, or this system cannot tell
        with self.lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads, which the copy has none of
            global _copying
            _copying = True
            try:
                copy = os.fork() if self.fds else 1
            except OSError:
                copy = 1  # no more processes may be made: what was sent is lost
            _copying = False
        if copy:
            os.close(watched)
            return
        try:
            self._give_out(watched)
        finally:
            os._exit(0)

    def _give_out(self, watched):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that is watched may go on
        needed = {self.server.fileno(), watched, *self.fds.values()}
        for fd in map(int, os.listdir("/proc/self/fd")):
            if fd not in needed:
                try:
                    os.close(fd)
                except OSError:
                    pass  # the folder's own
        waiting = select.poll()
        waiting.register(self.server.fileno(), select.POLLIN)
        waiting.register(watched, select.POLLIN)
        while self.fds:
            if any(fd == watched for fd, _ in waiting.poll()):
                return
            self._answer()


_shelf, _copying = Shelf(), False


def _forget():
    """In a process that was forked: what the other one keeps is its own."""
    if _copying or _shelf.server is None:
        return
    _shelf.server.close()
    for fd in _shelf.fds.values():
        os.close(fd)
    _shelf.__init__()


def _at_end(shelf):
    """Has `leave` called when this process ends: known before the end begins, which looks for what there is to call."""
    util.Finalize(None, shelf.leave, exitpriority=_PRIORITY)


os.register_at_fork(after_in_child=_forget)
_at_end(_shelf)
util.register_after_fork(_shelf, _at_end)


class KeptFd:
    """Stands for a descriptor in a pickle that another process reads."""

    def __init__(self, fd):
        self.name, self.token = _shelf.put(fd)

    def detach(self):
        """The descriptor, in the process that reads."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
                end.settimeout(_SECONDS)
                end.connect(self.name)
                end.sendall(self.token)
                _, fds, _, _ = socket.recv_fds(end, 1, 1)
        except ConnectionRefusedError as error:
            raise ConnectionRefusedError(error.errno, "the process that sent a tensor was killed before it was read") from None
        if not fds:
            raise EOFError("a tensor was sent once and is read a second time, or its sender was killed meanwhile")
        return fds[0]

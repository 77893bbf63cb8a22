"""Objects between a loader and its workers: messages over a socket, the bytes of tensors and arrays in shared memory.

A message is a pickle whose buffers (tensors, NumPy's arrays) are left out. If there is much of them, they lie one behind the
other in an anonymous file, whose descriptor goes with the message: no name, so nothing is left behind, and no copy on the
loader's side. A message is never larger than a socket takes at once, so it is sent whole or not at all.
"""

import io
import os
import pickle
import socket
import struct
from multiprocessing import reduction

from ... import _C
from ...multiprocessing import reductions

reductions.init_reductions()

_INLINE = 16 << 10  # bytes of a message; what is more goes to shared memory
_ALIGN = 64
_HEAD = struct.Struct("<qqi")  # bytes of the pickle, of the buffers, number of buffers


def pair():
    """The two ends of a channel."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _rebuild(buffer, dtype, size, stride, requires_grad):
    made = _C._tensor_on(buffer, dtype, size, stride)
    return made.requires_grad_() if requires_grad else made


class _Pickler(reduction.ForkingPickler):
    """Leaves the elements of tensors in buffers."""

    def reducer_override(self, value):
        if not isinstance(value, _C.TensorBase) or type(value).__name__ != "Tensor" or value.is_sparse:
            return NotImplemented
        if value.requires_grad and not value.is_leaf:
            raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
                               "support crossing process boundaries.  If you just want to transfer the data, call detach() "
                               "on the tensor before serializing (e.g., putting it on the queue).")
        if value.device.type != "cpu":
            raise RuntimeError(f"DataLoader workers send tensors of the CPU, got one on {value.device}: move batches to the "
                               "device in the main process")
        dense = value.detach()
        if not dense.is_contiguous():
            order = sorted(range(dense.dim()), key=lambda d: -dense.stride(d))
            if dense.permute(order).is_contiguous():  # channels_last and the like: the elements lie without gaps
                buffer = pickle.PickleBuffer(_C._bytes_of(dense.permute(order)))
                return _rebuild, (buffer, value.dtype, tuple(value.shape), value.stride(), value.requires_grad)
            dense = dense.contiguous()
        buffer = pickle.PickleBuffer(_C._bytes_of(dense))
        return _rebuild, (buffer, value.dtype, tuple(dense.shape), dense.stride(), value.requires_grad)


def _write(parts):
    """An anonymous file with the parts, each at a multiple of _ALIGN."""
    fd = os.memfd_create("taeda", os.MFD_CLOEXEC)
    try:
        at = 0
        for part in parts:
            done = 0
            while done < len(part):
                done += os.pwrite(fd, part[done:], at + done)
            at += _padded(len(part))
        os.ftruncate(fd, max(at, 1))
        return fd
    except BaseException:
        os.close(fd)
        raise


def _padded(size):
    return (size + _ALIGN - 1) // _ALIGN * _ALIGN


class Message:
    """An object ready to be sent; `close` when it was, or will not be."""

    def __init__(self, value):
        self.fd = -1
        buffers = []
        text = io.BytesIO()
        _Pickler(text, 5, True, buffers.append).dump(value)
        text = text.getbuffer()
        views = [buffer.raw() for buffer in buffers]
        sizes = struct.pack(f"<{len(views)}q", *map(len, views))
        total = sum(_padded(len(view)) for view in views)
        if len(text) + len(sizes) + total > _INLINE:
            self.fd = _write([memoryview(sizes + bytes(text)), *views])
            self.parts = [_HEAD.pack(len(text), total, len(views))]
        else:
            padded = [bytes(view).ljust(_padded(len(view)), b"\0") for view in views]
            head = _HEAD.size + len(sizes) + len(text)
            gap = b"\0" * (_padded(head) - head)  # elements lie at multiples of their sizes, as in the file
            self.parts = [_HEAD.pack(len(text), total, len(views)), sizes, text, gap, *padded]
        for buffer in buffers:
            buffer.release()

    def send(self, end, flags=0):
        """Sends it; BlockingIOError if `flags` forbid to wait and there is no room."""
        fds = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", self.fd))] if self.fd >= 0 else []
        end.sendmsg(self.parts, fds, flags | socket.MSG_NOSIGNAL)

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __del__(self):
        self.close()


def send(end, value):
    """Sends an object; OSError when the other end is gone."""
    message = Message(value)
    try:
        message.send(end)
    finally:
        message.close()


def receive(end):
    """The next object. EOFError when the other end is gone."""
    data, fds, _, _ = socket.recv_fds(end, 2 * _INLINE, 1)
    if not data:
        raise EOFError("the other end of the channel is closed")
    text_size, total, count = _HEAD.unpack_from(data)
    head = 8 * count + text_size
    if fds:
        try:
            shared = _C._share_map(fds[0], _padded(head) + total, False)
        finally:
            os.close(fds[0])
        memory, at = memoryview(_C._bytes_of(shared)), _padded(head)
        body = memory
    else:
        memory, at = memoryview(bytearray(data)), _padded(_HEAD.size + head)
        body = memory[_HEAD.size:]
    buffers = []
    for size in struct.unpack_from(f"<{count}q", body):
        buffers.append(memory[at:at + size])
        at += _padded(size)
    return pickle.loads(body[8 * count:head], buffers=buffers)

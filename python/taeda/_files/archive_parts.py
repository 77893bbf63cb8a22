"""ZIP archives within files: where one ends that begins at some place, and its bytes as a file of their own."""

import os
import struct

_END, _END64, _ENTRY = b"PK\x05\x06", b"PK\x06\x07", b"PK\x01\x02"
_END_BYTES, _END64_BYTES = 22, 76  # of the record; of those that come before it in large archives
_SCANNED = 1 << 20


class Part:
    """Bytes of a file from `begin` on, `size` of them where that is known, as a file."""

    def __init__(self, file, begin, size=None):
        self.file, self.begin, self.size = file, begin, size
        self.at = 0

    def tell(self):
        return self.at

    def seekable(self):
        return True

    def seek(self, offset, whence=os.SEEK_SET):
        if whence == os.SEEK_END:
            offset += self.size
        elif whence == os.SEEK_CUR:
            offset += self.at
        if offset < 0:
            raise ValueError(f"negative seek position {offset}")
        self.at = offset
        return offset

    def read(self, count=-1):
        left = max(self.size - self.at, 0)
        self.file.seek(self.begin + self.at)
        data = self.file.read(left if count is None or count < 0 else min(count, left))
        self.at += len(data)
        return data

    def write(self, data):
        if self.file.tell() != self.begin + self.at:
            self.file.seek(self.begin + self.at)
        self.file.write(data)
        self.at += len(memoryview(data))
        return len(memoryview(data))

    def flush(self):
        if hasattr(self.file, "flush"):
            self.file.flush()


def archive_at(file, start, end):
    """The archive that begins at `start`, as a Part; None where none ends before `end`.

    The last archive's record is at the end of the file, which is looked at first. An archive that others follow ends with the
    first record that counts back to its first byte.
    """
    at = end - _END_BYTES
    if _ends_at(file, start, at) == end:
        return Part(file, start, end - start)
    at = start
    while at + _END_BYTES <= end:
        file.seek(at)
        text = file.read(_SCANNED + len(_END))
        found = text.find(_END)
        while found >= 0:
            stop = _ends_at(file, start, at + found)
            if stop is not None and stop <= end:
                return Part(file, start, stop - start)
            found = text.find(_END, found + 1)
        if not text:
            break
        at += _SCANNED
    return None


def _read(file, at, count):
    file.seek(at)
    data = file.read(count)
    return data if len(data) == count else b""


def _ends_at(file, start, at):
    """The end of the archive whose last record is at `at`; None unless it is one that begins at `start`."""
    record = _read(file, at, _END_BYTES) if at >= start else b""
    if not record.startswith(_END):
        return None
    entries, size, offset, comment = struct.unpack("<10xHIIH", record)
    directory_end = at
    if at - _END64_BYTES >= start:
        large = _read(file, at - _END64_BYTES, _END64_BYTES)
        if large[56:].startswith(_END64):
            entries, size, offset = struct.unpack("<32xQQQ20x", large)
            directory_end -= _END64_BYTES
    directory = directory_end - size
    if directory < start:
        return None
    first = _read(file, directory, 46) if entries else b""
    if entries and not first.startswith(_ENTRY):
        return None
    # Offsets count from the archive's first byte or, by other writers, from the file's.
    counted_from = directory - offset
    begins = counted_from == start or (entries and counted_from + struct.unpack("<42xI", first)[0] == start)
    return at + _END_BYTES + comment if begins else None

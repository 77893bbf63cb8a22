"""Versions as texts that are compared by their numbers, and this one."""

from . import _C

__all__ = ["TorchVersion"]


def _key(version, local):
    """What versions are ordered by: their numbers, whether it is a final one ("2.1.0rc1" and "2.1.0a0" are not), and with
    `local` what follows a "+"."""
    if isinstance(version, str):
        import re  # not needed by who compares nothing
        found = re.match(r"v?(\d+(?:\.\d+)*)\s*[-_.]?(a|b|rc|alpha|beta|c|pre|preview|dev)?", version.strip(), re.I)
        if not found:
            raise ValueError(f"Invalid version: '{version}'")
        numbers, early = [int(n) for n in found[1].split(".")], bool(found[2])
    else:
        parts = list(version)
        numbers = [int(p) for p in parts if str(p).isdigit()]
        early = len(numbers) < len(parts)
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers, not early, str(version).partition("+")[2] if local else ""


class TorchVersion(str):
    """A version that is compared with texts and with tuples of numbers: torch.__version__ >= (2, 1)."""

    def _compared(self, other, compare):
        if not isinstance(other, (str, tuple, list)):
            return NotImplemented
        try:
            local = isinstance(other, str)
            return compare(_key(self, local), _key(other, local))
        except ValueError:  # no version: as texts
            return compare(str.__str__(self), str(other))

    def __eq__(self, other):
        return self._compared(other, lambda a, b: a == b)

    def __ne__(self, other):
        return self._compared(other, lambda a, b: a != b)

    def __lt__(self, other):
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other):
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._compared(other, lambda a, b: a >= b)

    __hash__ = str.__hash__


__version__ = TorchVersion("2.15.0+taeda" + _C.__version__)

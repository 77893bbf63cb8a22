"""Errors that go from where they were raised to where somebody waits for the result."""


class ExceptionWrapper:
    """An exception of a worker, with the worker's traceback in its text, to be raised elsewhere."""

    def __init__(self, exc_info=None, where="in background"):
        import sys
        import traceback
        exc_info = exc_info or sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = _Multiline(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        try:
            raise error
        finally:
            del error  # this frame, which the traceback holds, would hold the error, and whatever the frames before it have


class _Multiline(str):
    """KeyError shows its argument's repr."""

    def __repr__(self):
        return self

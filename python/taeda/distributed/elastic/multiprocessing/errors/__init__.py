"""What a program's main function is decorated with, so that its launcher can say what it died of."""

import functools
import json
import os
import time
import traceback

__all__ = ["record"]


def record(fn, error_handler=None):
    """`fn` with its error written to the file that TORCHELASTIC_ERROR_FILE names, if it does, and raised again."""
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            if path := os.environ.get("TORCHELASTIC_ERROR_FILE"):
                message = {"message": f"{type(error).__name__}: {error}",
                           "extraInfo": {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}}
                with open(path, "w", encoding="utf-8") as file:
                    json.dump({"message": message}, file)
            raise
    return wrapper

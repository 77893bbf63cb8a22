"""What calls of Python travel as: a pickle, with tensors and references beside it.

Unpickling runs what the pickle says. So only workers of one job, which have proved that they are (docs/rpc.md), call each
other, and functions are named by module and name: both processes must be able to import them.
"""

import io
import pickle
import sys
import traceback

from ... import _C
from ..._tensors.parameter import Parameter
from ...futures import Future
from .._rpc import rpc as _rpc
from .calls import RemoteException
from .rref import RRef


class _Pickler(pickle.Pickler):
    def __init__(self, file):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.tensors, self.references, self._numbers = [], [], {}

    def persistent_id(self, obj):
        if isinstance(obj, _C.TensorBase):
            # In a context of distributed autograd a parameter is what gradients come back to, else a value.
            kind = "parameter" if isinstance(obj, Parameter) and _rpc.current_context() < 0 else "tensor"
            return kind, self._number(self.tensors, obj), obj.requires_grad
        if isinstance(obj, RRef):
            return "reference", self._number(self.references, obj._reference), None
        return None

    def _number(self, all_of_them, obj):
        if id(obj) not in self._numbers:
            self._numbers[id(obj)] = len(all_of_them)
            all_of_them.append(obj)
        return self._numbers[id(obj)]


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, tensors, references):
        super().__init__(file)
        self.tensors, self.references = tensors, references
        self.made = {}

    def persistent_load(self, what):
        kind, number, requires_grad = what
        if kind == "tensor":
            return self.tensors[number]
        if what not in self.made:
            if kind == "parameter":
                self.made[what] = Parameter(self.tensors[number].detach(), requires_grad)
            else:
                        self.made[what] = RRef._of(self.references[number])
        return self.made[what]


def dumps(obj):
    """(bytes, tensors, references)."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(obj)
    return file.getvalue(), pickler.tensors, pickler.references


def loads(text, tensors, references):
    return _Unpickler(io.BytesIO(text), tensors, references).load()


def failure(error):
    """An error of this worker, for others."""
    where = _rpc.get_worker_info(None) if _rpc.is_initialized() else "a worker that has ended"
    text = f"On {where}:\n{error!r}\n" + "".join(traceback.format_exception(type(error), error, error.__traceback__))
    kind = type(error)
    try:
        pickle.dumps(kind)
    except Exception:
        kind = RuntimeError
    return RemoteException(kind, text)


def run(call):
    """Calls what another worker asks for; what it raises is its result."""
    function, args, kwargs = call
    try:
        result = function(*args, **kwargs)
        if getattr(function, "_wrapped_async_rpc_function", None) is not None:
            if not isinstance(result, Future):
                raise TypeError(f"Functions decorated with @rpc.async_function must return a torch.futures.Future object, "
                                f"but got {type(result)}")
            with _rpc.Elsewhere():
                result = result.wait()
        return result
    except Exception as error:
        return failure(error)
    except BaseException as error:  # SystemExit of a function ends the call, not the worker
        print(f"rpc: {error!r} in {function}", file=sys.stderr)
        return failure(RuntimeError(repr(error)))

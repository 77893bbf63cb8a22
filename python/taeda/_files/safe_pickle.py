"""A pickle machine for files that anybody may have made.

Python's own machine calls and changes whatever a pickle names. This one knows the operations that values need, calls what
the reader allows and nothing else, sets no attribute of a class or function, and counts: what a pickle repeats - a text, a
tuple in a tuple, a key that takes long to hash - may take a multiple of the file's size, no more (docs/security.md).
"""

import collections
import pickle
import struct

UnpicklingError = pickle.UnpicklingError

# Bytes or elements for each byte of a file, and for the smallest file.
PER_BYTE = 64
FLOOR = 1 << 18

_OPERATIONS = """MARK STOP POP POP_MARK DUP FLOAT INT BININT BININT1 LONG BININT2 NONE BINPERSID REDUCE STRING BINSTRING
SHORT_BINSTRING UNICODE BINUNICODE APPEND BUILD DICT EMPTY_DICT APPENDS GET BINGET LONG_BINGET LIST EMPTY_LIST PUT
BINPUT LONG_BINPUT SETITEM TUPLE EMPTY_TUPLE SETITEMS BINFLOAT PROTO NEWOBJ TUPLE1 TUPLE2 TUPLE3 NEWTRUE NEWFALSE LONG1 LONG4
BINBYTES SHORT_BINBYTES SHORT_BINUNICODE BINUNICODE8 BINBYTES8 EMPTY_SET ADDITEMS FROZENSET MEMOIZE
FRAME""".split()

_DICTS = (dict, collections.OrderedDict, collections.Counter)
_LONGEST_INTEGER = 64  # bits of a key


class _Bounded:
    """A file of which no more is asked for than it has left."""

    def __init__(self, file, size):
        self.file, self.left = file, size

    def read(self, count):
        if not self.left:
            raise EOFError("Ran out of input")
        if count > self.left:
            raise UnpicklingError("pickle data was truncated")
        data = self.file.read(count)
        self.left -= len(data)
        return data

    def readline(self):
        data = self.file.readline()
        self.left -= len(data)
        return data


class Machine(pickle._Unpickler):
    """`size` bytes of `file` at most. A reader's class says what `find_class` gives; `may_build` are the classes whose
    objects take a state, by `__setstate__` or as attributes."""

    dispatch = {}
    may_build = ()

    def __init__(self, file, size, **options):
        super().__init__(_Bounded(file, size), **options)
        self.left = PER_BYTE * size + FLOOR
        self.named = {}  # what the pickle may call, by identity

    def load(self):
        try:
            return super().load()
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, struct.error, MemoryError,
                RecursionError) as error:
            raise UnpicklingError(f"the pickle is damaged: {type(error).__name__}: {str(error)[:200]}") from error

    def charge(self, count):
        """Counts what is taken because of the file."""
        self.left -= count
        if self.left < 0:
            raise UnpicklingError("the pickle would take more memory or time than a file of its size may")

    def check_key(self, key):
        """What becomes a key is hashed: a tuple as often as it is reached."""
        reached = [key]
        while reached:
            part = reached.pop()
            self.charge(1)
            if isinstance(part, int) and part.bit_length() > _LONGEST_INTEGER:
                raise UnpicklingError("a key of the pickle is an integer of more than 64 bits")
            if type(part) is tuple:
                self.charge(len(part))
                reached.extend(part)

    def call(self, function, args):
        """What a pickle calls, which it must have named. Readers say more of their own functions."""
        if id(function) not in self.named:
            raise UnpicklingError(f"the pickle is damaged: it calls a {type(function).__name__}")
        if function in (set, frozenset):
            (items,) = args or ((),)
            self._take(items, (list, tuple, set))
            for item in items:
                self.check_key(item)
        elif function is collections.OrderedDict and args:
            (items,) = args
            self._take(items, (list, tuple, *_DICTS))
            for item in list(items.items()) if isinstance(items, dict) else items:
                self._take(item, (list, tuple))
                self.check_key(item[0])
        elif function is collections.Counter and args:
            self._take(args[0], _DICTS)
        elif function is bytearray and args:
            self._take(args[0], (str, bytes))
        else:
            for arg in args:
                self.charge(len(arg) if isinstance(arg, (str, bytes, tuple, list, dict)) else 1)
        return function(*args)

    def _take(self, items, kinds):
        if type(items) not in kinds:
            raise UnpicklingError(f"the pickle is damaged: a {type(items).__name__} where it cannot be")
        self.charge(len(items))


def _operation(function):
    Machine.dispatch[getattr(pickle, function.__name__[1:].upper())[0]] = function
    return function


for _name in _OPERATIONS:
    _code = getattr(pickle, _name)[0]
    Machine.dispatch[_code] = pickle._Unpickler.dispatch[_code]


@_operation
def _global(self):
    pickle._Unpickler.load_global(self)
    self.named[id(self.stack[-1])] = self.stack[-1]


@_operation
def _stack_global(self):
    pickle._Unpickler.load_stack_global(self)
    self.named[id(self.stack[-1])] = self.stack[-1]


def _on_top(machine, kinds):
    top = machine.stack[-1]
    if type(top) not in kinds:
        raise UnpicklingError(f"the pickle is damaged: it adds to a {type(top).__name__}")
    return top


@_operation
def _reduce(self):
    args = self.stack.pop()
    if type(args) is not tuple:
        raise UnpicklingError("the pickle is damaged: arguments that are no tuple")
    self.stack[-1] = self.call(self.stack[-1], args)


@_operation
def _newobj(self):
    args = self.stack.pop()
    kind = self.stack.pop()
    if type(args) is not tuple or not isinstance(kind, type):
        raise UnpicklingError("the pickle is damaged: it makes an object of what is no class")
    self.append(kind.__new__(kind, *args) if kind in self.may_build else self.call(kind, args))


@_operation
def _build(self):
    state = self.stack.pop()
    top = self.stack[-1]
    if type(top) is collections.OrderedDict:  # the _metadata of a state dict
        if type(state) not in _DICTS or not all(type(key) is str for key in state):
            raise UnpicklingError("the pickle is damaged: attributes that are no dict")
        self.charge(len(state))
        top.__dict__.update(state)
        return
    if type(top) not in self.may_build:
        raise UnpicklingError("Can only build objects of allowed classes, but the pickle has a state for a "
                              f"{type(top).__name__}")
    self.stack.append(state)
    pickle._Unpickler.load_build(self)


@_operation
def _append(self):
    value = self.stack.pop()
    _on_top(self, (list,)).append(value)


@_operation
def _appends(self):
    items = self.pop_mark()
    _on_top(self, (list,)).extend(items)


@_operation
def _setitem(self):
    value, key = self.stack.pop(), self.stack.pop()
    self.check_key(key)
    _on_top(self, _DICTS)[key] = value


@_operation
def _setitems(self):
    items = self.pop_mark()
    top = _on_top(self, _DICTS)
    for i in range(0, len(items), 2):
        self.check_key(items[i])
        top[items[i]] = items[i + 1]


@_operation
def _dict(self):
    items = self.pop_mark()
    for key in items[::2]:
        self.check_key(key)
    self.append(dict(zip(items[::2], items[1::2], strict=True)))


@_operation
def _additems(self):
    items = self.pop_mark()
    for item in items:
        self.check_key(item)
    _on_top(self, (set,)).update(items)


@_operation
def _frozenset(self):
    items = self.pop_mark()
    for item in items:
        self.check_key(item)
    self.append(frozenset(items))


@_operation
def _bytearray8(self):
    (count,) = struct.unpack("<Q", self.read(8))
    self.append(bytearray(self.read(count)))

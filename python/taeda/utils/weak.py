"""Dicts whose keys, tensors for instance, are told apart by identity and held weakly."""

import collections.abc
import weakref

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference that equals another one to the same object; its hash is the object's address."""

    __slots__ = ["_id"]

    def __init__(self, key, callback=None):
        super().__init__(key, callback)
        self._id = id(key)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        ours, theirs = self(), other()
        return self is other if ours is None or theirs is None else ours is theirs


class WeakIdKeyDictionary(collections.abc.MutableMapping):
    """A dict whose keys are compared by identity. An entry goes when nobody else has its key."""

    def __init__(self, dict=None, ref_type=WeakIdRef):
        self.ref_type, self.data = ref_type, {}
        if dict is not None:
            self.update(dict)

    def _ref(self, key):
        data = weakref.ref(self)

        def forget(ref):
            mine = data()
            if mine is not None:
                mine.data.pop(ref, None)
        return self.ref_type(key, forget)

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value):
        self.data[self._ref(key)] = value

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __contains__(self, key):
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # nothing that can be referred to weakly
            return False

    def __iter__(self):
        return iter([key for ref in list(self.data) if (key := ref()) is not None])

    def __len__(self):
        return len(self.data)

    def keyrefs(self):
        return list(self.data)

    def __repr__(self):
        return f"<{type(self).__name__} of {len(self)}>"


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor; called it gives the tensor, or None."""

    def __init__(self, tensor):
        self.ref = WeakIdRef(tensor)

    def __call__(self):
        return self.ref()

    def __hash__(self):
        return hash(self.ref)

    def __eq__(self, other):
        return isinstance(other, TensorWeakRef) and self.ref == other.ref

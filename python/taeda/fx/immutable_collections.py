"""Lists and dicts that nobody changes: arguments of nodes, whose uses a graph counts."""

__all__ = ["immutable_list", "immutable_dict"]


def _refuse(self, *args, **kwargs):
    raise TypeError(f"'{type(self).__name__}' object does not support mutation. If you are attempting to modify the "
                              "kwargs or args of a torch.fx.Node object, create a new copy of it and assign the copy to the "
                              "node: new_args = ...; node.args = new_args")


def _frozen(name, base, methods):
    members = {method: _refuse for method in methods}
    members.update(__reduce__=lambda self: (made, (base(self),)), __hash__=lambda self: hash(tuple(self)),
                   __doc__=f"A {base.__name__} that cannot be changed.", __module__=__name__)
    made = type(name, (base,), members)
    return made


immutable_list = _frozen("immutable_list", list, ["__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear",
                                                  "extend", "insert", "pop", "remove", "reverse", "sort"])
immutable_dict = _frozen("immutable_dict", dict, ["__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem",
                                                  "setdefault", "update"])

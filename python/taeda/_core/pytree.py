"""Structures of tuples, lists and dicts: taken apart to their leaves, and put together again."""

import collections
import collections.abc

__all__ = ["TreeSpec", "LeafSpec", "tree_flatten", "tree_unflatten", "tree_map", "tree_map_only", "tree_leaves", "tree_any",
           "tree_all", "tree_flatten_spec", "register_pytree_node"]

# class: (children and context of an object, object from both)
_registered = {}


def register_pytree_node(cls, flatten_fn, unflatten_fn, **options):
    """Has objects of a class taken apart: flatten_fn(object) gives (children, context), unflatten_fn takes both."""
    _registered[cls] = (flatten_fn, unflatten_fn)


def _apart(tree):
    """(children, context, function of both that gives the object) or None for a leaf."""
    kind = type(tree)
    if kind in _registered:
        flatten, unflatten = _registered[kind]
        children, context = flatten(tree)
        return list(children), context
    if kind in (list, tuple) or isinstance(tree, tuple) and (hasattr(tree, "_fields") or hasattr(tree, "n_fields")):
        return list(tree), None
    if kind in (dict, collections.OrderedDict):
        return list(tree.values()), list(tree)
    return None


def _together(kind, children, context):
    if kind in _registered:
        return _registered[kind][1](children, context)
    if context is not None:
        return kind(zip(context, children))
    return kind(*children) if hasattr(kind, "_fields") else kind(children)


class TreeSpec:
    """What a structure is without its leaves."""

    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves = sum(c.num_leaves for c in children_specs) if type is not None else 1

    def is_leaf(self):
        return self.type is None

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and (self.type, self.context, self.children_specs) == (
            other.type, other.context, other.children_specs)

    def __repr__(self):
        return "*" if self.is_leaf() else f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


def LeafSpec():
    """The structure of one leaf."""
    return TreeSpec(None, None, [])


def tree_flatten(tree, is_leaf=None):
    """(leaves, what the structure is without them)."""
    parts = None if is_leaf is not None and is_leaf(tree) else _apart(tree)
    if parts is None:
        return [tree], LeafSpec()
    children, context = parts
    leaves, specs = [], []
    for child in children:
        below, spec = tree_flatten(child, is_leaf)
        leaves += below
        specs.append(spec)
    return leaves, TreeSpec(type(tree), context, specs)


def tree_unflatten(leaves, treespec):
    """The structure with other leaves."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree "
                         f"that holds {treespec.num_leaves} items ({treespec}).")
    if treespec.is_leaf():
        return leaves[0]
    children, at = [], 0
    for spec in treespec.children_specs:
        children.append(tree_unflatten(leaves[at:at + spec.num_leaves], spec))
        at += spec.num_leaves
    return _together(treespec.type, children, treespec.context)


def tree_flatten_spec(tree, spec):
    """The leaves of a structure that must be like a known one."""
    if spec.is_leaf():
        return [tree]
    children, context = _apart(tree) or ([], None)
    if type(tree) is not spec.type or len(children) != len(spec.children_specs) or (
            context is not None and set(context) != set(spec.context)):
        raise ValueError(f"an input has the structure {tree_flatten(tree)[1]} instead of {spec}")
    if context is not None:
        children = [tree[key] for key in spec.context]
    return [leaf for child, below in zip(children, spec.children_specs) for leaf in tree_flatten_spec(child, below)]


def tree_leaves(tree, is_leaf=None):
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_map(func, tree, *rests, is_leaf=None):
    """The same structure with func(leaf) for each leaf, or func(leaf, leaf of the next tree, ...)."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_flatten(rest, is_leaf)[0] for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others)], spec)


def tree_map_only(type_or_types, func, tree, is_leaf=None):
    """As tree_map, of leaves of some classes alone."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, type_or_types) else leaf, tree, is_leaf=is_leaf)


def tree_any(predicate, tree):
    return any(map(predicate, tree_leaves(tree)))


def tree_all(predicate, tree):
    return all(map(predicate, tree_leaves(tree)))


# Containers of any class, also those that derive from dict, list and tuple, which are leaves to the functions above.


def leaves_of(value):
    """The leaves of nested mappings, lists, tuples, sets and dataclasses, in order."""
    if isinstance(value, collections.abc.Mapping):
        parts = value.values()
    elif isinstance(value, (list, tuple, set)):
        parts = value
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        parts = [getattr(value, name) for name in value.__dataclass_fields__]
    else:
        yield value
        return
    for part in parts:
        yield from leaves_of(part)


def mapped(function, value, is_leaf=None):
    """The same nested mappings, lists and tuples, of the classes that they have, with function(leaf) for each leaf."""
    if is_leaf is not None and is_leaf(value):
        return function(value)
    if isinstance(value, collections.abc.Mapping):
        return type(value)({key: mapped(function, part, is_leaf) for key, part in value.items()})
    if isinstance(value, (list, tuple)):
        parts = [mapped(function, part, is_leaf) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return function(value)

"""Structures of tuples, lists and dicts: taken apart to their leaves, and put together again."""

import collections
import collections.abc
import dataclasses
import typing

__all__ = ["Context", "GetAttrKey", "KeyEntry", "KeyPath", "LeafSpec", "MappingKey", "PyTree", "SequenceKey", "TreeSpec",
           "keystr", "register_pytree_node", "tree_all", "tree_any", "tree_flatten", "tree_flatten_spec",
           "tree_flatten_with_path", "tree_is_leaf", "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_map",
           "tree_map_", "tree_map_only", "tree_map_with_path", "tree_structure", "tree_unflatten"]

PyTree = Context = KeyEntry = typing.Any
KeyPath = typing.Tuple[KeyEntry, ...]


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The way to a child of a list or tuple."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The way to a child of a dict."""

    key: typing.Any

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The way to a child that is an attribute."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, object):
        return getattr(object, self.name)


class NodeDef(typing.NamedTuple):
    """How objects of a class are taken apart: flatten_fn(object) gives (children, context), unflatten_fn takes both;
    flatten_with_keys_fn(object) gives ([(key, child), ...], context)."""

    type: type
    flatten_fn: typing.Callable
    unflatten_fn: typing.Callable
    flatten_with_keys_fn: typing.Optional[typing.Callable] = None


def _dict_flatten(d):
    return list(d.values()), list(d)


def _dict_unflatten(values, context):
    return dict(zip(context, values))


def _dict_flatten_with_keys(d):
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _list_flatten(d):
    return list(d), None


def _list_unflatten(values, context):
    return list(values)


def _list_flatten_with_keys(d):
    return [(SequenceKey(i), value) for i, value in enumerate(d)], None


_ordered_dict_flatten, _tuple_flatten = _dict_flatten, _list_flatten
_ordered_dict_flatten_with_keys, _tuple_flatten_with_keys = _dict_flatten_with_keys, _list_flatten_with_keys


def _ordered_dict_unflatten(values, context):
    return collections.OrderedDict(zip(context, values))


def _tuple_unflatten(values, context):
    return tuple(values)


# By classes; a namedtuple's is that of collections.namedtuple, whose context is its own class.
SUPPORTED_NODES = {node.type: node for node in (
    NodeDef(list, _list_flatten, _list_unflatten, _list_flatten_with_keys),
    NodeDef(tuple, _tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys),
    NodeDef(dict, _dict_flatten, _dict_unflatten, _dict_flatten_with_keys),
    NodeDef(collections.OrderedDict, _ordered_dict_flatten, _ordered_dict_unflatten, _ordered_dict_flatten_with_keys),
    NodeDef(collections.defaultdict, lambda d: (list(d.values()), [d.default_factory, list(d)]),
            lambda values, context: collections.defaultdict(context[0], zip(context[1], values)),
            lambda d: (_dict_flatten_with_keys(d)[0], [d.default_factory, list(d)])),
    NodeDef(collections.deque, lambda d: (list(d), d.maxlen), lambda values, most: collections.deque(values, maxlen=most),
            lambda d: (_list_flatten_with_keys(d)[0], d.maxlen)),
    NodeDef(collections.namedtuple, lambda d: (list(d), type(d)), lambda values, kind: kind(*values),
            lambda d: ([(GetAttrKey(name), value) for name, value in zip(d._fields, d)], type(d))))}


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None,
                         from_dumpable_context=None, flatten_with_keys_fn=None, **options):
    """Has objects of a class taken apart: flatten_fn(object) gives (children, context), unflatten_fn takes both."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls):
    del SUPPORTED_NODES[cls]


def is_namedtuple(obj):
    """Whether a class, or an object's, is a namedtuple's."""
    cls = obj if isinstance(obj, type) else type(obj)
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_structseq_instance(obj):
    """Whether an object is like os.stat_result: a tuple of C with names."""
    return isinstance(obj, tuple) and isinstance(getattr(type(obj), "n_sequence_fields", None), int)


def _get_node_type(tree):
    kind = type(tree)
    if kind in SUPPORTED_NODES:
        return kind
    if issubclass(kind, tuple) and hasattr(kind, "n_fields"):  # what functions of several results give
        SUPPORTED_NODES[kind] = NodeDef(kind, _list_flatten, lambda values, context: kind(values), _list_flatten_with_keys)
    return collections.namedtuple if is_namedtuple(kind) else kind


def tree_is_leaf(tree, is_leaf=None):
    """Whether nothing is within: it is of no class that is known, or `is_leaf(tree)` says so."""
    return is_leaf is not None and is_leaf(tree) or _get_node_type(tree) not in SUPPORTED_NODES


class TreeSpec:
    """What a structure is without its leaves."""

    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves = sum(c.num_leaves for c in children_specs) if type is not None else 1
        self.num_children = len(children_specs)
        self.num_nodes = 1 + sum(c.num_nodes for c in children_specs)

    def is_leaf(self):
        return self.type is None

    def children(self):
        return list(self.children_specs)

    def unflatten(self, leaves):
        return tree_unflatten(leaves, self)

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and (self.type, self.context, self.children_specs) == (
            other.type, other.context, other.children_specs)

    def __hash__(self):
        return hash((self.type, self.num_nodes, self.num_leaves))

    def __repr__(self):
        return "*" if self.is_leaf() else f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


class LeafSpec(TreeSpec):
    """The structure of one leaf."""

    def __init__(self):
        super().__init__(None, None, [])


def tree_flatten(tree, is_leaf=None):
    """(leaves, what the structure is without them)."""
    if tree_is_leaf(tree, is_leaf):
        return [tree], LeafSpec()
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    leaves, specs = [], []
    for child in children:
        below, spec = tree_flatten(child, is_leaf)
        leaves += below
        specs.append(spec)
    return leaves, TreeSpec(kind, context, specs)


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
    return SUPPORTED_NODES[treespec.type].unflatten_fn(children, treespec.context)


def tree_flatten_spec(tree, spec):
    """The leaves of a structure that must be like a known one."""
    if spec.is_leaf():
        return [tree]
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree) if kind is spec.type else ([], None)
    named = kind in (dict, collections.OrderedDict)
    if len(children) != len(spec.children_specs) or (set(context) != set(spec.context) if named else context != spec.context):
        raise ValueError(f"an input has the structure {tree_flatten(tree)[1]} instead of {spec}")
    if named:
        children = [tree[key] for key in spec.context]
    return [leaf for child, below in zip(children, spec.children_specs) for leaf in tree_flatten_spec(child, below)]


def tree_leaves(tree, is_leaf=None):
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree, is_leaf=None):
    """The leaves in order, one by one."""
    yield from tree_leaves(tree, is_leaf)


def tree_structure(tree, is_leaf=None):
    """What a structure is without its leaves."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The same structure with func(leaf) for each leaf, or func(leaf, leaf of the next tree, ...)."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_flatten(rest, is_leaf)[0] for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others)], spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls func as tree_map does, and gives the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(type_or_types, func, tree=None, is_leaf=None):
    """As tree_map, of leaves of some classes alone; `type_or_types` may be a function that says which."""
    def wanted(leaf):
        asked = callable(type_or_types) and not isinstance(type_or_types, type)
        return type_or_types(leaf) if asked else isinstance(leaf, type_or_types)
    return tree_map(lambda leaf: func(leaf) if wanted(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_any(predicate, tree, is_leaf=None):
    return any(map(predicate, tree_leaves(tree, is_leaf)))


def tree_all(predicate, tree, is_leaf=None):
    return all(map(predicate, tree_leaves(tree, is_leaf)))


def tree_leaves_with_path(tree, is_leaf=None):
    """Pairs of the keys that lead to a leaf, and the leaf."""
    if tree_is_leaf(tree, is_leaf):
        return [((), tree)]
    node = SUPPORTED_NODES[_get_node_type(tree)]
    if node.flatten_with_keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a flatten_with_keys_fn "
                         "argument to register_pytree_node.")
    return [((key, *path), leaf) for key, child in node.flatten_with_keys_fn(tree)[0]
            for path, leaf in tree_leaves_with_path(child, is_leaf)]


def tree_flatten_with_path(tree, is_leaf=None):
    """(pairs of path and leaf, what the structure is without them)."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """As tree_map, with func(path, leaf, ...)."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = [tree_leaves(rest, is_leaf) for rest in rests]
    return tree_unflatten([func(path, leaf, *more) for (path, leaf), *more in zip(pairs, *others)], spec)


def keystr(kp):
    """A path as Python would write it behind a name."""
    return "".join(str(key) for key in kp)


def key_get(obj, kp):
    """What a path leads to."""
    for key in kp:
        obj = key.get(obj)
    return obj


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

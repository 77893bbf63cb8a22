"""Tensors in dictionaries, lists and tuples, as functions of torch.func take and give them."""


def leaves(tree):
    """What stands at the ends, in order."""
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in leaves(value)]
    if isinstance(tree, (list, tuple)):
        return [leaf for value in tree for leaf in leaves(value)]
    return [tree]


def like(tree, values):
    """The same structure around other ends, taken from an iterator."""
    if isinstance(tree, dict):
        made = {key: like(value, values) for key, value in tree.items()}
        return made if type(tree) is dict else type(tree)(made)
    if isinstance(tree, (list, tuple)):
        made = [like(value, values) for value in tree]
        return type(tree)(*made) if hasattr(tree, "_fields") else type(tree)(made)
    return next(values)


def mapped(function, tree):
    """The same structure around what `function` gives for each end."""
    return like(tree, iter([function(leaf) for leaf in leaves(tree)]))


def spread(dims, tree):
    """A number, or None, for each end of `tree`: `dims` is one for all below, or has the tree's structure."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(leaves(tree))
    if type(dims) is not type(tree) and not (isinstance(dims, (list, tuple)) and isinstance(tree, (list, tuple))):
        raise ValueError(f"in_dims is not compatible with the structure of inputs: {dims} for {type(tree)}")
    pairs = [(dims[key], tree[key]) for key in tree] if isinstance(tree, dict) else zip(dims, tree)
    return [dim for part, below in pairs for dim in spread(part, below)]

"""One public declaration of libtorch."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Entry:
    """`kind` is function, method, constructor, type or value; `space` a namespace or a class."""
    space: str
    kind: str
    name: str
    arguments: tuple = ()
    const: bool = False
    template: bool = False

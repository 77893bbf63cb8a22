"""What the reference is made from: headers with the declarations that a program may use."""

import dataclasses


@dataclasses.dataclass
class Comment:
    """A documentation comment, and the facts that its tags state."""
    text: str = ""
    tags: dict = dataclasses.field(default_factory=dict)

    def __bool__(self):
        return bool(self.text)


@dataclasses.dataclass
class Symbol:
    kind: str          # class, function, method, constructor, alias, enum, enumerator, variable, field, macro
    name: str
    scope: str         # "taeda::nn", "taeda::Tensor"
    declaration: str   # as the header has it, without a body
    file: str          # "taeda/ops/reduce/reduce.h"
    line: int
    comment: Comment
    shared: bool = False   # the comment is the one of the group in which the declaration stands
    members: list = dataclasses.field(default_factory=list)

    @property
    def path(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name


@dataclasses.dataclass
class Header:
    file: str
    comment: Comment
    symbols: list = dataclasses.field(default_factory=list)

    @property
    def room(self):
        return self.file.split("/")[1] if self.file.count("/") > 1 else ""

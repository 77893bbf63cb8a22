"""Reads the declarations of operations: the headers of taeda/ops and the methods of class Tensor.

A header that declares operations says so in its first comment, with the tags that all of them have:

    // [operations, method, out]

Above a function stand its documentation and, where there is more to say, a line of tags, which adds to those of
the file. A comment is for the function below it and for those that follow without a blank line or a comment.

    /// Rounds down. Gradients of the rounding functions are zero.
    /// [in-place: Floor]
    Tensor floor(const Tensor& self);

ops/README.md lists the tags. Everything here raises DeclarationError with file and line for what it cannot read.
"""

import dataclasses
import re


class DeclarationError(Exception):
    """A declaration that cannot be understood: "file:line: what is wrong"."""

    def __init__(self, path, line, message):
        super().__init__(f"{path}:{line}: {message}")


@dataclasses.dataclass
class Argument:
    name: str
    type: str
    default: str | None = None

    @property
    def is_tensor(self):
        return self.type == "const Tensor&"


@dataclasses.dataclass
class Operation:
    """One overload of one function, or of a method that has no function."""

    name: str
    returns: str
    arguments: list
    family: str
    path: str
    line: int
    doc: str = ""
    namespace: str = ""
    tags: dict = dataclasses.field(default_factory=dict)
    only_method: bool = False  # declared in class Tensor; `arguments` are without the tensor itself
    has_body: bool = False

    @property
    def receiver(self):
        """Index of the argument that a method is called on: `self`, or else the first tensor."""
        for i, a in enumerate(self.arguments):
            if a.name == "self":
                return i if a.is_tensor else None
        return next((i for i, a in enumerate(self.arguments) if a.is_tensor), None)

    @property
    def rest(self):
        """The arguments of the method."""
        if self.only_method:
            return self.arguments
        return [a for i, a in enumerate(self.arguments) if i != self.receiver]

    @property
    def qualified(self):
        return f"taeda::{self.namespace}::{self.name}" if self.namespace else f"taeda::{self.name}"

    @property
    def public_name(self):
        return f"{self.namespace}.{self.name}" if self.namespace else self.name

    @property
    def is_method(self):
        return self.only_method or "method" in self.tags

    @property
    def autocast(self):
        """What its tag says, but for who casts."""
        return [word for word in self.tags.get("autocast", []) if word != "inside"]

    @property
    def casts(self):
        """The policies on the host and on accelerators: "float32 host promote accelerators" are two, "lower" is for both."""
        found, words = {}, self.autocast
        for i, word in enumerate(words):
            where = words[i + 1] if i + 1 < len(words) and words[i + 1] in DEVICES else None
            if word not in DEVICES:
                found.update(dict.fromkeys([where] if where else DEVICES, word))
        return [found.get(where, "none") for where in DEVICES] if found else []

    @property
    def outputs(self):
        """How many tensors it returns; 0 if it returns something else."""
        if self.returns in ("Tensor", "Tensor&"):
            return 1
        match = re.fullmatch(r"std::tuple<(Tensor(?:, Tensor)*)>", self.returns)
        return match.group(1).count("Tensor") if match else 0


@dataclasses.dataclass
class Family:
    """A header of operations."""

    name: str
    include: str
    title: str
    doc: str
    operations: list
    exported: set = dataclasses.field(default_factory=set)  # "linalg::det" that is taeda::det, too


DEVICES = ("host", "accelerators")
POLICIES = ("lower", "float32", "promote", "unsafe")

# What each tag takes: nothing, one word, some words, or a word if it likes.
NOTHING, WORD, WORDS, MAYBE = range(4)
TAGS = {
    "method": NOTHING,     # a method, too
    "in-place": MAYBE,     # the method name_; a formula of kernels/pointwise, or `own`
    "out": NOTHING,        # the function name_out
    "sequence": NOTHING,   # numbers one after the other, which `out` takes in its own shape if it has as many elements
    "also": WORDS,         # second names
    "autocast": WORDS,     # lower, float32, promote or unsafe; on host or accelerators alone; `inside`: its body casts
    "view": MAYBE,         # the result is a view; `maybe` if it can be a copy
    "dtypes": WORDS,       # the dtypes it takes, where not all
    "keyword": WORDS,      # arguments that Python takes by keyword alone
    "composite": NOTHING,  # made of other operations, which are seen in its place
    "composition": NOTHING,  # a source of ops/ defines the same of other operations, too, for those who know these alone
    "returns": WORDS,      # names of several results
    "shape": WORD,         # the rule of SHAPES that its shapes follow
}
# What documentation says of shapes that many operations have.
SHAPES = {
    "same": "Shapes: any, which the result has.",
    "broadcast": "Shapes: any that broadcast against each other, to the result's; others throw Error.",
    "reduced": "Shapes: any; the result's is without the dimensions that are reduced, which `keepdim` leaves with size 1, and "
               "0-dim if these are all.",
    "loss": "Shapes: operands that broadcast against each other; the loss is 0-dim, and in their shape with `reduction` \"none\".",
}
CHOICES = {
    "shape": set(SHAPES),
    "view": {"maybe"},
    "autocast": {*POLICIES, *DEVICES, "inside"},
    "dtypes": {"floating", "complex", "integral", "bool"},
}


def parse_tags(text, path, line, first=False):
    """The tags between brackets: {name: [words]}."""
    tags = {}
    for item in text.split(","):
        key, colon, value = (part.strip() for part in item.partition(":"))
        words = value.split()
        negative = key.startswith("not ")
        name = key[4:].strip() if negative else key
        if first and name == "operations" and not colon:
            continue
        if name not in TAGS:
            raise DeclarationError(path, line, f"unknown tag '{key}'; there are {', '.join(sorted(TAGS))}")
        if key in tags:
            raise DeclarationError(path, line, f"tag '{key}' appears twice")
        kind = TAGS[name]
        if negative:
            if colon:
                raise DeclarationError(path, line, f"tag '{key}' takes no value")
        elif (colon and not words) or (kind == NOTHING and words) or (kind == WORDS and not words) or (
                kind == MAYBE and len(words) > 1) or (kind == WORD and len(words) != 1):
            wanted = {NOTHING: "no value", WORD: "one value", WORDS: "values", MAYBE: "at most one value"}[kind]
            raise DeclarationError(path, line, f"tag '{name}' takes {wanted}, got '{value}'")
        for word in words:
            if name in CHOICES and word not in CHOICES[name]:
                raise DeclarationError(path, line, f"tag '{name}' takes {', '.join(sorted(CHOICES[name]))}, "
                                       f"got '{word}'")
        tags[key] = words
    return tags


def merge(defaults, own):
    """The file's tags with those of a declaration added, and `not x` taken away."""
    tags = {**defaults, **{k: v for k, v in own.items() if not k.startswith("not ")}}
    for key in own:
        if key.startswith("not "):
            tags.pop(key[4:].strip(), None)
    return tags


def split_comment(lines):
    """(documentation, tags or None, offset of the tags' line) of the lines of a comment."""
    prose, tags, offset = [], None, 0
    for i, text in enumerate(lines):
        if tags is not None and not tags.endswith("]"):
            tags += " " + text
        elif re.match(r"\[(operations|not |(" + "|".join(TAGS) + r")\b)|\[[a-z-]+([:,].*)?\]$", text):
            tags, offset = text, i
        else:
            prose.append(text)
    if tags is not None:
        tags = tags[1:-1] if tags.endswith("]") else tags
    return "\n".join(prose).strip(), tags, offset


def split_list(text):
    """The parts between commas that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "<({["
        depth -= c in ">)}]"
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    if text[start:].strip():
        parts.append(text[start:])
    return [" ".join(p.split()) for p in parts]


def parse_argument(text, path, line):
    declaration, equals, default = (part.strip() for part in text.partition("="))
    declaration = re.sub(r"/\*(\w+)\*/", r"\1", declaration)
    match = re.fullmatch(r"(.*[^\w:])(\w+)", declaration)
    if not match or not match.group(1).strip():
        raise DeclarationError(path, line, f"argument '{text}' has no name")
    kind = match.group(1).strip().replace("Tensor::T2", "std::tuple<Tensor, Tensor>")
    return Argument(match.group(2), kind, default if equals else None)


ALIASES = {"T2": "std::tuple<Tensor, Tensor>", "Tensor::T2": "std::tuple<Tensor, Tensor>",
           "T3": "std::tuple<Tensor, Tensor, Tensor>"}
FUNCTION = re.compile(r"(?:inline )?([\w:<>, ]+?[&*]?) (\w+)\((.*)\)\s*(const)?\s*([;{])", re.DOTALL)


class Reader:
    """Reads one file from top to bottom."""

    def __init__(self, path, text):
        self.path, self.lines = path, text.split("\n")
        self.family = re.sub(r"\.(h|inc)$", "", path.split("/")[-1])
        self.in_class = path.endswith(".inc")
        self.at, self.namespaces = 0, []
        self.doc, self.tags, self.defaults = "", {}, None
        self.title = ""
        self.operations, self.exported = [], set()

    def error(self, message, line=None):
        return DeclarationError(self.path, (self.at if line is None else line) + 1, message)

    def read(self):
        """The family, or None for a header that declares no operations."""
        self.head()
        if self.defaults is None:
            return None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.startswith("//"):
                self.comment()
            elif not line.strip():
                self.doc, self.tags = "", {}
                self.at += 1
            elif line.startswith("#"):
                self.at += 1
            elif match := re.match(r"namespace (\w+)(?:::inline \w+)? \{", line):
                self.namespaces.append(match.group(1))
                self.at += 1
            elif line.startswith("}"):
                if not self.namespaces:
                    raise self.error("a bracket closes nothing")
                self.namespaces.pop()
                self.at += 1
            else:
                self.statement()
        title = re.split(r"(?<=[.])\s", self.title.replace("\n", " "), maxsplit=1)[0]
        return Family(self.family, self.path, title, self.title, self.operations, self.exported)

    def comment_lines(self):
        first, texts = self.at, []
        while self.at < len(self.lines) and self.lines[self.at].startswith("//"):
            texts.append(self.lines[self.at].lstrip("/").strip())
            self.at += 1
        return first, texts

    def head(self):
        first, texts = self.comment_lines()
        self.title, tags, offset = split_comment(texts)
        if tags is None:
            if "[operations" in self.title or self.in_class:
                raise self.error("the tags of a file stand on a line of their own", first)
            return
        if not re.match(r"operations\b", tags):
            raise self.error("the tags of a file begin with 'operations'", first + offset)
        self.defaults = parse_tags(tags, self.path, first + offset + 1, first=True)

    def comment(self):
        first, texts = self.comment_lines()
        doc, tags, offset = split_comment(texts)
        if stray := re.search(r"\S \[(?:" + "|".join(TAGS) + r")(?:: [\w ]+)?(?:, [\w: -]+)*\]$", doc):
            raise self.error(f"tags stand on a line of their own, not behind '{stray.group()[0]}'", first)
        # Tags alone, right below another declaration, are for another overload of what stands above.
        if doc or first == 0 or not self.lines[first - 1].strip():
            self.doc = doc
        self.tags = {}
        if tags is not None:
            line = first + offset
            if not self.lines[first].startswith("///"):
                raise self.error("tags stand in a /// comment", line)
            self.tags = parse_tags(tags, self.path, line + 1)
            if self.at >= len(self.lines) or not self.lines[self.at].strip():
                raise self.error("tags without a declaration below them", line)

    def take_statement(self):
        """The text up to its semicolon, or to the end of its body."""
        text, depth, start = "", 0, self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            text += line + "\n"
            self.at += 1
            depth += line.count("{") - line.count("}") + line.count("(") - line.count(")")
            if depth == 0 and (line.rstrip().endswith(";") or (
                    line.rstrip().endswith("}") and "{" in text)):
                return text
        raise self.error("a declaration without an end", start)

    def statement(self):
        first = self.at
        text = self.take_statement()
        if using := re.match(r"using ([\w:, ]+);", text):
            self.exported |= set(name.strip() for name in using.group(1).split(","))
            return
        if re.match(r"(template|class|struct|enum|using|constexpr|typedef)\b", text) or "operator" in text:
            if self.tags and first > 0 and self.lines[first - 1].startswith("//"):
                raise self.error("tags on something that is not an operation", first)
            return
        match = FUNCTION.match(text)
        if not match:
            raise self.error(f"cannot read '{text.splitlines()[0].strip()}'", first)
        if (self.namespaces and re.search("detail$|^testing$", self.namespaces[-1])) or re.search(r"\bauto\b", text.split("{")[0]):
            return
        returns, name, arguments, const, end = match.groups()
        has_body = text.rstrip().endswith("}")
        if end == "{" or "{" in arguments:  # the arguments end before the body
            name, returns, arguments = self.cut_body(text, match)
        self.add(first, returns.strip(), name, arguments, has_body)

    def cut_body(self, text, match):
        begin = text.index("(", match.start(2))
        depth = 0
        for i in range(begin, len(text)):
            depth += text[i] == "("
            depth -= text[i] == ")"
            if depth == 0:
                return match.group(2), match.group(1), text[begin + 1:i]
        raise self.error("brackets do not match")

    def add(self, line, returns, name, arguments, has_body):
        space = "::".join(self.namespaces[1:]) if not self.in_class else ""
        operation = Operation(
            name=name, returns=ALIASES.get(returns, returns), family=self.family, path=self.path,
            arguments=[parse_argument(a, self.path, line + 1) for a in split_list(arguments)],
            line=line + 1, doc=self.doc, namespace=space, tags=merge(self.defaults, self.tags),
            only_method=self.in_class, has_body=has_body)
        if not operation.doc:
            raise self.error(f"{name} has no documentation", line)
        check(operation, self.tags)
        self.operations.append(operation)


def check(operation, own):
    """What its tags ask for must be possible; tags of the file alone are dropped where they are not."""

    def refuse(tag, why):
        if tag in own:
            raise DeclarationError(operation.path, operation.line, f"{operation.name} cannot have the tag '{tag}': {why}")
        operation.tags.pop(tag, None)

    in_place = operation.name.endswith("_")
    if "method" in operation.tags and not operation.only_method and operation.receiver is None:
        refuse("method", "no argument is a tensor")
    if "out" in operation.tags and (in_place or operation.outputs == 0):
        refuse("out", "it returns no new tensor")
    if "in-place" in operation.tags:
        if in_place or operation.returns != "Tensor":
            refuse("in-place", "it does not return one new tensor")
        elif not operation.is_method:
            refuse("in-place", "it is not a method")
        elif operation.tags["in-place"] == [] and any("TensorIndex" in a.type for a in operation.arguments):
            refuse("in-place", "the general form takes no indices: say 'in-place: own'")
    names = {a.name for a in operation.arguments}
    for keyword in operation.tags.get("keyword", []):
        if keyword not in names and "keyword" in own:
            refuse("keyword", f"it has no argument '{keyword}'")
    returned = operation.tags.get("returns", [])
    parts = operation.returns.count(",") + 1  # a list is one of them
    if returned and len(returned) != parts:
        refuse("returns", f"it names {len(returned)} results of {parts}")
    cast = operation.tags.get("autocast", [])
    if cast and cast[0] not in POLICIES:
        refuse("autocast", "the policy comes first: " + ", ".join(POLICIES))


def class_doors(path, text):
    """The methods that class Tensor itself declares and that have a door, from the declarations of their bodies."""
    found = []
    for match in re.finditer(r"^([\w&]+) do_(\w+)\(const Tensor& self(?:, )?(.*?)\);", text, re.DOTALL | re.MULTILINE):
        returns, name, arguments = match.groups()
        line = text[:match.start()].count("\n") + 1
        found.append(Operation(name=name, returns=returns, arguments=[parse_argument(a, path, line) for a in split_list(arguments)],
                               family="tensor", path=path, line=line, only_method=True))
    return found


def read_file(path, text):
    """The family of operations that a file declares, or None."""
    return Reader(path, text).read()


def read_files(files):
    """The families of [(path, text)], with the rules that hold between declarations checked."""
    families = [f for path, text in files if (f := read_file(path, text))]
    seen = {}
    for family in families:
        for o in family.operations:
            key = (o.namespace, o.name, o.only_method, tuple(a.type for a in o.arguments))
            if key in seen:
                raise DeclarationError(o.path, o.line, f"{o.name} is declared at {seen[key]}, too")
            seen[key] = f"{o.path}:{o.line}"
    names = {o.name for f in families for o in f.operations}
    for family in families:
        for o in family.operations:
            for second in o.tags.get("also", []):
                if second in names:
                    raise DeclarationError(o.path, o.line, f"the second name '{second}' is an operation's")
    return families

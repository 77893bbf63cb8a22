"""Reads the public names and signatures of libtorch's C++ frontend from its headers, with libclang."""

import dataclasses
import re

import clang.cindex as clang

from entry import Entry

K = clang.CursorKind
RECORDS = (K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE)
FUNCTIONS = (K.FUNCTION_DECL, K.FUNCTION_TEMPLATE)

# Of namespaces that are mostly implementation, the classes that programs name.
CLASSES = {
    "at": """Tensor TensorBase OptionalTensorRef TensorAccessor PackedTensorAccessor32
             PackedTensorAccessor64 Generator Context""",
    "c10": """Scalar Device DeviceGuard OptionalDeviceGuard TensorOptions Half BFloat16 complex
              ArrayRef optional Storage Error IndexError ValueError TypeError NotImplementedError
              IValue Stream Event StreamGuard InferenceMode""",
    "torch": "OrderedDict Library CppFunction ExpandingArray ExpandingArrayWithOptionalElem IMethod",
    "c10::cuda": "CUDAStream CUDAGuard OptionalCUDAGuard CUDAStreamGuard",
}
# Of at and c10, the headers whose free functions programs call.
FUNCTION_HEADERS = re.compile(
    r"/ATen/(ops/[a-z]\w*|Functions|Parallel\w*|Context|TensorIndexing|TensorOperators|Utils|"
    r"ScalarOps|WrapDimUtils|DeviceGuard|ExpandUtils)\.h$|"
    r"/c10/(util/(irange|StringUtil|Exception|Logging)|core/(Device|ScalarType|TensorOptions|"
    r"MemoryFormat|Layout|GradMode|InferenceMode|DefaultDtype|DeviceType))\.h$")
SKIPPED_SPACES = {"detail", "_detail", "impl", "internal", "native", "_ops", "redispatch", "meta",
                  "cpu", "functionalization", "functorch", "jit", "profiler", "lazy", "executor",
                  "distributed", "cppdocs", "symint", "dynamo", "mobile", "onnx", "monitor",
                  "caching", "guts", "indexing_impl", "profiler_ns", "throughput_benchmark",
                  "ivalue", "prim", "xpu", "hip", "Reduction", "sparse", "deploy", "aten", "attr",
                  "cuda_impl", "utils_impl", "tracer", "enum_detail", "string_utils", "variable",
                  "autograd_impl", "generated", "forward_ad", "static_data", "lazyinit", "python",
                  "random", "nested", "enforce_detail"}

# Types that are one in both libraries, in Taeda's spelling.
SPELLINGS = [(r"\bstd::__cxx11::", "std::"), (r"\bc10::optional<", "std::optional<"),
             (r"\bc10::basic_string_view<char>", "std::string_view"), (r"\bunsigned long\b", "size_t"),
             (r"\blong\b", "int64_t"),
             # A program passes one of the alternatives; the first is asked for.
             (r"(const )?(c10::)?variant<(torch::enumtype::\w+)(, (torch::enumtype::\w+|std::function<[^;]*?>))*>( &&?)?$", r"\3"),
             (r"\bc10::variant<", "std::variant<"), (r"(?<!:)\bvariant<", "std::variant<"),
             (r"(ExpandingArray\w*<[\w *]+), int64_t>", r"\1>"), (r"\bc10::nullopt_t\b", "std::nullopt_t"),
             (r"(const )?(at::ITensorListRef|c10::IListRef<at::Tensor>)( &)?", "at::TensorList"),
             (r"(?<!:)\bExpandingArray", "torch::ExpandingArray"),
             (r"\bcaffe2::TypeMeta\b", "c10::ScalarType")]


def parse(include="/usr/include"):
    """The translation unit of `#include <torch/torch.h>`."""
    source = "libtorch.cpp"
    text = "#include <torch/torch.h>\n#include <torch/library.h>\n#include <ATen/Parallel.h>\n"
    options = clang.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
    unit = clang.Index.create().parse(
        source, ["-std=c++17", f"-I{include}/torch/csrc/api/include", f"-I{include}"], [(source, text)], options)
    fatal = [str(d) for d in unit.diagnostics if d.severity >= clang.Diagnostic.Error]
    if fatal:
        raise SystemExit("libtorch's headers cannot be read:\n" + "\n".join(fatal[:5]))
    return unit


def type_text(type_):
    """A type as it is written outside of all namespaces."""
    text = type_.get_canonical().spelling
    if "type-parameter" in text:
        text = type_.spelling
    for pattern, plain in SPELLINGS:
        text = re.sub(pattern, plain, text)
    return text


def arguments_of(cursor):
    """The types of all parameters, those with defaults included."""
    return tuple(type_text(c.type) for c in cursor.get_children() if c.kind == K.PARM_DECL)


class Reader:
    """Walks a translation unit and keeps what is public."""

    def __init__(self, include):
        self.include = include
        self.entries = {}

    def ours(self, cursor):
        file = cursor.location.file
        return file is not None and re.match(rf"{self.include}/(torch|ATen|c10)/", file.name)

    def add(self, space, kind, cursor, name=None, bind=lambda text: text):
        arguments = arguments_of(cursor)
        entry = Entry(space, kind, name or cursor.spelling, tuple(map(bind, arguments)),
                      kind == "method" and cursor.is_const_method(), cursor.kind == K.FUNCTION_TEMPLATE)
        self.entries[entry] = True

    def namespace(self, cursor, path):
        for child in cursor.get_children():
            if child.kind == K.NAMESPACE:
                name = child.spelling
                if name and name not in SKIPPED_SPACES and not name.startswith("_"):
                    if path or name in ("at", "torch", "c10"):
                        self.namespace(child, path + (name,))
            elif path and self.ours(child) and child.spelling and not child.spelling.startswith("_"):
                self.declaration(child, "::".join(path))

    def declaration(self, cursor, space):
        if cursor.semantic_parent.kind not in (K.NAMESPACE, K.TRANSLATION_UNIT, K.LINKAGE_SPEC):
            return  # a member that is defined outside of its class
        library = space.startswith("torch") and "/csrc/api/include/" in cursor.location.file.name
        library |= space.startswith("torch") and cursor.location.file.name.endswith("torch/library.h")
        library |= space == "torch::autograd"
        if cursor.kind in FUNCTIONS:
            if library or FUNCTION_HEADERS.search(cursor.location.file.name):
                if not cursor.spelling.startswith("operator") or space == "at":
                    self.add(space, "function", cursor)
        elif cursor.kind in RECORDS and cursor.is_definition():
            if library or cursor.spelling in CLASSES.get(space, "").split():
                self.record(cursor, space)
        elif cursor.kind in (K.TYPE_ALIAS_DECL, K.TYPEDEF_DECL, K.TYPE_ALIAS_TEMPLATE_DECL) and library:
            self.alias(cursor, space)
        elif cursor.kind == K.VAR_DECL and (library or re.match(r"k[A-Z]", cursor.spelling)):
            self.add(space, "value", cursor)

    def record(self, cursor, space):
        self.add(space, "type", cursor)
        if cursor.kind != K.CLASS_TEMPLATE:  # a specialisation has its arguments in its name
            self.members(cursor, f"{space}::{type_text(cursor.type).removeprefix(space + '::')}", set())

    def members(self, cursor, owner, seen, bind=lambda text: text):
        """Public members, those of public bases included."""
        if cursor.hash in seen:
            return
        seen.add(cursor.hash)
        public = clang.AccessSpecifier.PUBLIC
        for child in sorted(cursor.get_children(), key=lambda c: c.kind == K.CXX_BASE_SPECIFIER):  # bases last
            if child.access_specifier != public or child.spelling.startswith(("_", "~")) or deleted(child):
                continue
            if child.kind == K.CXX_METHOD or (child.kind == K.FUNCTION_TEMPLATE
                                              and child.spelling != cursor.spelling):
                if not child.spelling.startswith("operator") and not self.overridden(child, owner):
                    self.add(owner, "method", child, bind=bind)
            elif child.kind == K.CONSTRUCTOR:
                if not owner.endswith("Impl") or len(seen) == 1:
                    self.constructor(child, owner, len(seen) == 1, bind)
            elif child.kind == K.CXX_BASE_SPECIFIER:
                base, inner = definition_of(child.type)
                if base is not None and self.ours(base) and "Cloneable" not in child.type.spelling:
                    if not re.search(r"::(Module|ModuleHolder)$|ModuleHolder<|enable_shared", child.type.spelling):
                        self.members(base, owner, seen, lambda text, i=inner: bind(i(text)))

    def overridden(self, cursor, owner):
        """Whether it is a method of a template that a class below has a form of its own of."""
        return cursor.is_virtual_method() and cursor.semantic_parent.kind == K.CLASS_TEMPLATE and any(
            e.space == owner and e.name == cursor.spelling and len(e.arguments) == len(arguments_of(cursor))
            for e in self.entries)

    def constructor(self, cursor, owner, own, bind):
        moves = cursor.is_copy_constructor() or cursor.is_move_constructor()
        if own and not moves:
            self.add(owner, "constructor", cursor, owner.rsplit("::", 1)[1], bind)

    def alias(self, cursor, space):
        self.add(space, "type", cursor)
        if cursor.kind != K.TYPE_ALIAS_TEMPLATE_DECL:
            base, bind = definition_of(cursor.underlying_typedef_type)
            if base is not None and self.ours(base) and cursor.spelling.endswith("Options"):
                self.members(base, f"{space}::{cursor.spelling}", set(), bind)


def deleted(cursor):
    """Whether it is declared only so that nobody calls it."""
    return cursor.kind in (K.CONSTRUCTOR, K.CXX_METHOD) and \
        re.search(r"=\s*delete$", " ".join(t.spelling for t in cursor.get_tokens())) is not None


def outer_parts(text):
    """What stands between the commas that are in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<(") - (c in ">)")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def definition_of(type_):
    """The record behind a type and how its template parameters are replaced."""
    declaration = type_.get_canonical().get_declaration()
    template = clang.conf.lib.clang_getSpecializedCursorTemplate(declaration)
    if template is None or template.kind == K.INVALID_FILE or not template.spelling:
        found = declaration.get_definition() or declaration
        return (found if found.kind in RECORDS else None), (lambda text: text)
    names = [c.spelling for c in template.get_children() if c.kind in (
        K.TEMPLATE_TYPE_PARAMETER, K.TEMPLATE_NON_TYPE_PARAMETER)]
    values = re.search(r"<(.*)>", type_.get_canonical().spelling)
    values = [v.strip() for v in outer_parts(values.group(1))] if values else []
    pairs = [(n, v) for n, v in zip(names, values) if n]

    def bind(text):
        for name, value in pairs:
            text = re.sub(rf"\b{name}\b", value, text)
        return text
    return (template.get_definition() or template), bind


def read(include="/usr/include"):
    """All public declarations, in the order of their namespaces and names."""
    reader = Reader(include)
    reader.namespace(parse(include).cursor, ())
    # Of a method for const objects and one for others, the first is what matters to a caller.
    plain = {dataclasses.replace(e, const=False): e for e in sorted(reader.entries, key=lambda e: e.const)}
    kept = [e for e in plain.values() if not moved_twin(e, plain)]
    return sorted(kept, key=lambda e: (e.space, e.kind, e.name, len(e.arguments), e.arguments))


def moved_twin(entry, found):
    """Whether `entry` takes `T&&` where another takes `const T&`: one way of writing for a reader."""
    if len(entry.arguments) != 1 or not entry.arguments[0].endswith(" &&"):
        return False
    twin = ("const " + entry.arguments[0].removesuffix("&&") + "&",)
    return dataclasses.replace(entry, const=False, arguments=twin) in found

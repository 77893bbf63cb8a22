"""What the rules need to know about the Python package: its modules, what they import, and how long functions are."""

import ast

PACKAGE = "taeda"


def modules(root):
    """{name: path} of the modules of the package in python/taeda."""
    folder, found = root / "python" / PACKAGE, {}
    for path in sorted(folder.rglob("*.py")):
        parts = (PACKAGE, *path.relative_to(folder).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _statements(tree):
    """The nodes of a module but for those that only type checkers see."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            yield node
            waiting += ast.iter_child_nodes(node)


def _named(node, package):
    """The names of what a statement or call imports, if it is an import."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[:len(package.split(".")) - node.level + 1] if node.level else []
        source = ".".join(above + ([node.module] if node.module else []))
        yield from (f"{source}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
        if node.args and isinstance(node.args[0], ast.Constant):
            yield node.args[0].value


def imports(name, path, known):
    """(line, module) of what a module imports of the package, at its top or in a function, with the packages around it."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        for target in _named(node, package):
            if target.split(".")[0] != PACKAGE or target.startswith(f"{PACKAGE}._C"):
                continue
            found = target if target in known else target.rpartition(".")[0]
            yield node.lineno, found
            while (found := found.rpartition(".")[0]) not in ("", PACKAGE) and not f"{name}.".startswith(f"{found}."):
                yield node.lineno, found


def circles(edges):
    """Sets of modules that reach each other by {module: modules}, each as a sorted list."""
    number, lowest, stack, found = {}, {}, [], []

    def visit(module):
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for other in sorted(edges.get(module, ())):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == number[module]:
            circle = stack[stack.index(module):]
            del stack[-len(circle):]
            if len(circle) > 1:
                found.append(sorted(circle))

    for module in sorted(edges):
        if module not in number:
            visit(module)
    return found


def docstring_lines(text):
    """How many lines of a Python file are docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = (node.body[0] for node in ast.walk(ast.parse(text)) if isinstance(node, kinds) and ast.get_docstring(node) is not None)
    return sum(each.end_lineno - each.lineno + 1 for each in first)


def functions(text):
    """(first line, number of lines, name) of every function of a Python file, decorators included."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield first, node.end_lineno - first + 1, node.name

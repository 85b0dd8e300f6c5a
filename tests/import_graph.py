"""Reads which module imports which from source text alone, so that no import of ours runs while it is judged."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Module:
    """One source file: what it imports (everywhere, and when loaded) and the qualified names it uses."""

    name: str
    imports: frozenset[str]
    imports_on_load: frozenset[str]
    uses: frozenset[str]


Tree = dict[str, Module]


def read_tree(root: Path, packages: Iterable[str]) -> Tree:
    """Return every module of the top-level `packages` under `root` by its dotted name."""
    paths = [path for package in packages for path in sorted((root / package).rglob("*.py"))]
    names = {_dotted(path.relative_to(root)): path for path in paths}
    return {name: _read_module(name, path, names.keys()) for name, path in names.items()}


def reached(tree: Tree, start: str, *, on_load: bool = False) -> Iterator[tuple[str, str]]:
    """Yield ``(module, imported)`` for every import that importing `start` brings with it, ours and foreign.

    Importing a module runs the ``__init__`` of each package above it, so those count too.
    """
    todo, seen = [start, *_above(start)], set[str]()
    while todo:
        name = todo.pop()
        if name in seen or name not in tree:
            continue
        seen.add(name)
        for imported in tree[name].imports_on_load if on_load else tree[name].imports:
            yield name, imported
            todo += [imported, *_above(imported)]


def inside(name: str, packages: Iterable[str]) -> bool:
    """Tell whether the dotted `name` is one of `packages` or lies in one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


def _dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _above(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _read_module(name: str, path: Path, known: Iterable[str]) -> Module:
    syntax = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    aliases = {local: full for node in ast.walk(syntax) for local, full in _bindings(node, package)}
    return Module(
        name=name,
        imports=_imported(ast.walk(syntax), package, known),
        imports_on_load=_imported(_outside_functions(syntax), package, known),
        uses=frozenset(_used(syntax, aliases)),
    )


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when the module is loaded: nothing in functions, nor what only the type checker reads."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            for other in child.orelse:
                yield from _outside_functions(other)
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _outside_functions(child)


def _bindings(node: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """Yield ``(local name, qualified name)`` for each name that an import statement binds."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, f"{_source(node, package)}.{alias.name}"


def _source(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])


def _imported(nodes: Iterable[ast.AST], package: str, known: Iterable[str]) -> frozenset[str]:
    """Return what the statements import; ``from a import b`` is ``a.b`` where that is a module of ours, else ``a``."""
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _source(node, package)
            full_names = [f"{source}.{alias.name}" for alias in node.names]
            found.update(full if full in known else source for full in full_names)
    return frozenset(found)


def _used(syntax: ast.AST, aliases: dict[str, str]) -> Iterator[str]:
    """Yield each name and attribute chain, written out in full: ``dt.now`` is ``datetime.datetime.now``."""
    for node in ast.walk(syntax):
        chain: list[str] = []
        root = node
        while isinstance(root, ast.Attribute):
            chain.insert(0, root.attr)
            root = root.value
        if isinstance(root, ast.Name):
            yield ".".join([aliases.get(root.id, root.id), *chain])

"""Imports run downwards only, and the pure core touches no file, socket, clock or chance (docs/architecture.md)."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pitwatch.extras import EXTRAS
from tests.import_graph import Tree, inside, reached, read_tree

PACKAGES = ("schemas", "processors", "producers", "dashboards", "pitwatch")

# Which of our packages a module may import besides its own; the longest name that holds the module counts.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "schemas": (),
    "processors.rules": ("schemas",),
    "processors.reconstruct": ("schemas", "processors.rules"),
    "processors.detect": ("schemas", "processors.rules", "processors.reconstruct"),
    "processors.live": ("schemas", "processors.reconstruct", "processors.rules"),
    "processors": ("schemas",),
    "producers": ("schemas",),
    "dashboards": ("schemas", "processors"),
    "pitwatch": ("schemas", "processors", "producers", "dashboards"),
}

PURE = ("schemas", "processors.rules", "processors.reconstruct", "processors.detect", "processors.live")

# Parts of the contract that are files: they may be read, but not by the pure core.
READS_FILES: tuple[str, ...] = ("schemas.ddl",)

# A list of what is allowed, not of what is not: a new way to do I/O is then refused before anyone thought of it.
PURE_MAY_IMPORT = (
    "abc", "annotated_types", "base64", "bisect", "collections", "contextlib", "copy", "dataclasses", "datetime",
    "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "keyword", "math", "msgspec",
    "operator", "pydantic", "pydantic_core", "re", "statistics", "string", "struct", "textwrap", "types", "typing",
    "typing_extensions", "unicodedata", "zlib",
)  # fmt: skip

# `hash` and `id` differ from run to run, so a fact made from them would too.
PURE_MAY_NOT_USE = frozenset({
    "__import__", "eval", "exec", "hash", "id", "input", "open", "print",
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
})  # fmt: skip

# The command must load, and answer --help, without them; clickhouse-connect brings pyarrow along.
INSTALLED_BY_EXTRAS = (*EXTRAS, "pyarrow")


def upward_imports(tree: Tree) -> Iterator[str]:
    """Yield a line for each import that runs against the direction of `MAY_IMPORT`."""
    for module in tree.values():
        layer = max((name for name in MAY_IMPORT if inside(module.name, [name])), key=len)
        for imported in sorted(module.imports):
            if inside(imported, PACKAGES) and not inside(imported, (layer, *MAY_IMPORT[layer])):
                yield f"{module.name} imports {imported}"


def pure_modules(tree: Tree) -> list[str]:
    """Return the names of the modules that must be pure."""
    return [name for name in tree if inside(name, PURE) and not inside(name, READS_FILES)]


def impure_imports(tree: Tree) -> Iterator[str]:
    """Yield a line for each import, however far down, that brings a pure module more than pure code."""
    for name in pure_modules(tree):
        for importer, imported in reached(tree, name):
            if not inside(imported, (*PACKAGES, *PURE_MAY_IMPORT)):
                yield f"{name} is pure but reaches {imported} through {importer}"


def impure_uses(tree: Tree) -> Iterator[str]:
    """Yield a line for each wall clock, file or per-run value that a pure module uses."""
    for name in pure_modules(tree):
        for used in sorted(tree[name].uses & PURE_MAY_NOT_USE):
            yield f"{name} is pure but uses {used}"


def eager_extras(tree: Tree) -> Iterator[str]:
    """Yield a line for each optional package that loading the command brings with it."""
    for name in tree:
        if inside(name, ["pitwatch"]):
            for importer, imported in reached(tree, name, on_load=True):
                if inside(imported, INSTALLED_BY_EXTRAS):
                    yield f"loading {name} loads {imported} through {importer}: import it where it is needed"


Rule = Callable[[Tree], Iterator[str]]
RULES: tuple[Rule, ...] = (upward_imports, impure_imports, impure_uses, eager_extras)


@pytest.fixture(scope="module")
def product(repository: Path) -> Tree:
    return read_tree(repository, PACKAGES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_product_keeps_the_rule(product: Tree, rule: Rule) -> None:
    assert list(rule(product)) == []


def test_every_package_was_read(product: Tree) -> None:
    assert {name.partition(".")[0] for name in product} == set(PACKAGES)
    assert pure_modules(product)


def write_tree(root: Path, sources: dict[str, str]) -> Tree:
    """Write modules under `root`, each with the packages above it, and read them back."""
    for file, source in sources.items():
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    for folder in {parent for file in sources for parent in (root / file).parents if root in parent.parents}:
        (folder / "__init__.py").touch()
    return read_tree(root, PACKAGES)


@pytest.mark.parametrize(
    ("rule", "sources", "fault"),
    [
        (upward_imports, {"schemas/a.py": "import processors.rules"}, "schemas.a imports processors.rules"),
        (upward_imports, {"producers/a.py": "from processors import b"}, "producers.a imports processors"),
        (
            upward_imports,
            {"processors/rules/a.py": "from processors.detect import b", "processors/detect/b.py": ""},
            "processors.rules.a imports processors.detect.b",
        ),
        (
            upward_imports,
            {"processors/rules/a.py": "from ..reconstruct import fold", "processors/reconstruct/fold.py": ""},
            "processors.rules.a imports processors.reconstruct.fold",
        ),
        (
            upward_imports,
            {"processors/store.py": "def f():\n    from pitwatch.cli import main"},
            "processors.store imports pitwatch.cli",
        ),
        (impure_imports, {"schemas/a.py": "import os.path"}, "schemas.a is pure but reaches os.path through schemas.a"),
        (
            impure_imports,
            {"schemas/a.py": "import schemas.ddl.b", "schemas/ddl/b.py": "from pathlib import Path"},
            "schemas.a is pure but reaches pathlib through schemas.ddl.b",
        ),
        (
            impure_imports,
            {"processors/__init__.py": "import logging", "processors/rules/a.py": ""},
            "processors.rules.a is pure but reaches logging through processors",
        ),
        (
            impure_uses,
            {"schemas/a.py": "from datetime import datetime as dt\nx = dt.now"},
            "schemas.a is pure but uses datetime.datetime.now",
        ),
        (
            impure_uses,
            {"schemas/a.py": "import datetime\nx = datetime.date.today()"},
            "schemas.a is pure but uses datetime.date.today",
        ),
        (impure_uses, {"schemas/a.py": "x = open('y').read()"}, "schemas.a is pure but uses open"),
        (
            eager_extras,
            {"pitwatch/cli.py": "import processors.embedded", "processors/embedded.py": "import chdb.session"},
            "loading pitwatch.cli loads chdb.session through processors.embedded: import it where it is needed",
        ),
    ],
)
def test_rule_names_the_fault(tmp_path: Path, rule: Rule, sources: dict[str, str], fault: str) -> None:
    assert fault in list(rule(write_tree(tmp_path, sources)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_accepts_what_is_allowed(tmp_path: Path, rule: Rule) -> None:
    sources = {
        "schemas/a.py": "from datetime import datetime\nfrom fractions import Fraction\nx = datetime.fromisoformat",
        "schemas/ddl/b.py": "from pathlib import Path\nfrom schemas.a import x",
        "processors/rules/c.py": "from schemas import a\nimport processors.rules.d",
        "processors/rules/d.py": "from .c import y",
        "processors/store.py": "import clickhouse_connect, time\nfrom schemas.ddl import b",
        "producers/e.py": "import socket, random\nfrom schemas.a import x",
        "pitwatch/cli.py": "import producers.e\ndef main():\n    import processors.store",
    }
    assert list(rule(write_tree(tmp_path, sources))) == []

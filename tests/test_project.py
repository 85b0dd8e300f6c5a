"""The repository itself: what may stand in its files, and that its dependencies are pinned whole."""

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from pitwatch.extras import EXTRAS
from tests.import_graph import read_tree

PRODUCT = ("schemas", "processors", "producers", "dashboards", "pitwatch")

# What tools and running floors leave behind; none of it is committed (.gitignore).
NOT_OURS = frozenset({"__pycache__", "build", "data", "dist", "htmlcov"})
HIDDEN_BUT_OURS = frozenset({".ci", ".editorconfig", ".gitignore"})

# One letter or dot of each stands in brackets, so that this file does not hold what it looks for.
REGISTRY_HOST = re.compile(
    r"pypi[.]org|pythonhosted[.]org|npmjs[.](org|com)|crates[.]io|golang[.]org|maven[.](org|apache[.]org)|deb[.]debian",
    re.IGNORECASE,
)
MACHINE_PATH = re.compile(r"(?<![\w.])/([w]ork|[r]oot|[h]ome/\w+|[U]sers/\w+|tmp/[p]w|opt/[w]heels)\b")
UNFINISHED = re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K|NotImplemented[E]rror)\b")


class Line(NamedTuple):
    """One line of one of the repository's text files."""

    path: str
    number: int
    text: str


def files_of(folder: Path) -> Iterator[Path]:
    """Yield every file of ours under `folder`, and never look into what is not ours."""
    for path in sorted(folder.iterdir()):
        ours = path.name not in NOT_OURS and (not path.name.startswith(".") or path.name in HIDDEN_BUT_OURS)
        if ours and path.is_dir():
            yield from files_of(path)
        elif ours:
            yield path


def lines_of(root: Path) -> Iterator[Line]:
    """Yield every line of every text file of ours under `root`; pictures and the like are passed over."""
    for path in files_of(root):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        name = path.relative_to(root).as_posix()
        yield from (Line(name, number, line) for number, line in enumerate(text.splitlines(), start=1))


def matching(lines: list[Line], pattern: re.Pattern[str], *, folders: tuple[str, ...] = ()) -> list[str]:
    """Return ``path:number: text`` of the lines that hold `pattern`, of all files or of those in `folders`."""
    return [
        f"{line.path}:{line.number}: {line.text.strip()}"
        for line in lines
        if pattern.search(line.text) and (not folders or line.path.startswith(tuple(f"{name}/" for name in folders)))
    ]


@pytest.fixture(scope="module")
def lines(repository: Path) -> list[Line]:
    return list(lines_of(repository))


def test_no_file_names_a_registry_host(lines: list[Line]) -> None:
    assert matching(lines, REGISTRY_HOST) == []


def test_no_file_names_a_folder_of_one_machine(lines: list[Line]) -> None:
    assert matching(lines, MACHINE_PATH) == []


def test_product_code_leaves_nothing_for_later(lines: list[Line]) -> None:
    assert matching(lines, UNFINISHED, folders=PRODUCT) == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (REGISTRY_HOST, "index-url = https://PyPI{}org/simple".format(".")),
        (REGISTRY_HOST, "resolved https://registry.npmjs{}org/x".format(".")),
        (MACHINE_PATH, "path = '/{}/main'".format("work")),
        (MACHINE_PATH, "see /{}/somebody/notes".format("home")),
        (UNFINISHED, "    raise NotImplemented{}".format("Error")),
        (UNFINISHED, "# {}: later".format("TO" + "DO")),
    ],
    ids=["host", "host of another", "workplace", "home", "error", "comment"],
)
def test_offending_line_is_found(tmp_path: Path, pattern: re.Pattern[str], text: str) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "offender.py").write_text(f"fine\n{text}\n")
    found = matching(list(lines_of(tmp_path)), pattern, folders=PRODUCT)
    assert found == [f"schemas/offender.py:2: {text.strip()}"]


def test_other_peoples_files_and_binaries_are_passed_over(tmp_path: Path) -> None:
    for name in (".venv/theirs.py", "data/floor.log", "docs/ours.md", ".ci/run"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("x")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    assert [line.path for line in lines_of(tmp_path)] == [".ci/run", "docs/ours.md"]


QUOTED_PATH = re.compile(r"(?<!`)`(?P<path>[\w.-]+(?:/[\w.-]+)+/?)`(?!`)")
PATH_OF_A_FILE = re.compile(r"(?<![\w./$-])(?P<path>[\w.-]+/[\w./-]*\w\.[a-z]{2,10})\b")
LINK = re.compile(r"\]\((?P<page>[^)\s#]*)(?:#(?P<heading>[^)\s]*))?\)")
HEADING = re.compile(r"^#+ (?P<text>.*)$", re.MULTILINE)
ENTRY = re.compile(r"decisions\.md[,)]* (?:entry )?\(?(?P<number>\d+)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def pages(repository: Path) -> list[Path]:
    return [path for path in files_of(repository) if path.suffix == ".md"]


@pytest.fixture(scope="module")
def folders(repository: Path) -> set[str]:
    return {path.name for path in repository.iterdir() if path.is_dir() and path.name not in NOT_OURS}


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def linked(page: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield the file and the heading of every link to a file of ours."""
    for found in LINK.finditer(prose(page)):
        if ":" not in found["page"]:
            yield (page.parent / found["page"]).resolve() if found["page"] else page, found["heading"]


def anchor(heading: str) -> str:
    """Return what a link calls a heading."""
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def test_docs_name_files_that_exist(repository: Path, pages: list[Path], folders: set[str]) -> None:
    """A path in backticks whose first folder is one of ours is there."""
    named = {
        (page.relative_to(repository).as_posix(), found["path"])
        for page in pages
        for found in QUOTED_PATH.finditer(prose(page))
    }
    ours = {(page, path) for page, path in named if path.split("/")[0] in folders}
    assert ours, "the pages name no file at all"
    assert {(page, path) for page, path in ours if not (repository / path).exists()} == set()


def test_code_names_files_that_exist(repository: Path, lines: list[Line], folders: set[str]) -> None:
    """Docstrings, comments, messages and settings name files of ours that are there; tests make some up."""
    named = {
        (f"{line.path}:{line.number}", found["path"])
        for line in lines
        for found in PATH_OF_A_FILE.finditer(line.text)
        if found["path"].split("/")[0] in folders and not line.path.startswith("tests/")
    }
    assert named, "the code names no file at all"
    assert {(where, path) for where, path in named if not (repository / path).exists()} == set()


def test_links_lead_somewhere(pages: list[Path]) -> None:
    headings = {page: {anchor(found["text"]) for found in HEADING.finditer(prose(page))} for page in pages}
    links = [(page, *link) for page in pages for link in linked(page)]
    assert links
    assert [(page, to) for page, to, _ in links if not to.exists()] == []
    assert [(page, to, heading) for page, to, heading in links if heading and heading not in headings[to]] == []


def test_entries_of_the_decisions_that_are_named_are_there(repository: Path, lines: list[Line]) -> None:
    decisions = (repository / "docs" / "decisions.md").read_text(encoding="utf-8")
    named = {found["number"] for line in lines for found in ENTRY.finditer(line.text)}
    assert named, "nothing names a decision by its number"
    assert {number for number in named if f"\n## {number}. " not in decisions} == set()


def test_every_page_is_found_from_the_readme(repository: Path) -> None:
    """It is linked there, or from a page that is."""
    first = {to for to, _ in linked(repository / "README.md")}
    second = {to for page in first if page.suffix == ".md" for to, _ in linked(page)}
    assert set((repository / "docs").glob("*.md")) - first - second == set()


PIN = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[\w.!+]+)")


@pytest.fixture(scope="module")
def pins(repository: Path) -> dict[str, Version]:
    """Every pinned version by the package's canonical name."""
    text = (repository / "constraints.txt").read_text(encoding="utf-8")
    matches = [PIN.fullmatch(line) for line in text.splitlines() if not line.startswith("#")]
    assert all(matches), "constraints.txt holds a line that is no exact pin"
    return {canonicalize_name(match["name"]): Version(match["version"]) for match in matches if match}


BENCHMARKS_ONLY = "bench"
"""The extra that tests run without."""


@pytest.fixture(scope="module")
def project(repository: Path) -> dict[str, Any]:
    """What pyproject.toml says of the distribution."""
    found: dict[str, Any] = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def asked_for(project: dict[str, Any], *, without: str = "") -> list[Requirement]:
    """Return what the distribution and its extras ask for, but for its references to itself."""
    extras = [texts for extra, texts in project["optional-dependencies"].items() if extra != without]
    texts = [*project["dependencies"], *chain.from_iterable(extras)]
    return [asked for asked in map(Requirement, texts) if asked.name != project["name"]]


@pytest.fixture(scope="module")
def requirements(project: dict[str, Any]) -> list[Requirement]:
    """What the tests' environment was made from."""
    return asked_for(project, without=BENCHMARKS_ONLY)


def test_every_requirement_is_pinned_in_its_range(project: dict[str, Any], pins: dict[str, Version]) -> None:
    for asked in asked_for(project):
        assert pins[canonicalize_name(asked.name)] in asked.specifier, asked


def test_everything_that_comes_along_is_pinned(requirements: list[Requirement], pins: dict[str, Version]) -> None:
    """Walks the installed packages' own requirements: nothing the tests ran with is missing from the pins."""
    missing = {name for name in installed_with(requirements) if name not in pins}
    assert missing == set()


def test_tests_run_on_the_pinned_versions(requirements: list[Requirement], pins: dict[str, Version]) -> None:
    other = {name: metadata.version(name) for name in installed_with(requirements) if name in pins}
    assert {name: text for name, text in other.items() if Version(text) != pins[name]} == {}


def installed_with(requirements: list[Requirement]) -> set[str]:
    """Return the canonical names of the packages that `requirements` bring into this environment."""
    todo = [(canonicalize_name(asked.name), extra) for asked in requirements for extra in ("", *asked.extras)]
    seen = set[tuple[str, str]]()
    while todo:
        package, extra = todo.pop()
        if (package, extra) in seen:
            continue
        seen.add((package, extra))
        for asked in map(Requirement, metadata.requires(package) or ()):
            if asked.marker is None or asked.marker.evaluate({"extra": extra}):
                todo += [(canonicalize_name(asked.name), wanted) for wanted in ("", *asked.extras)]
    return {package for package, _ in seen}


PRODUCT_EXTRAS = ("embedded", "distributed")
"""The extras that the product runs with; the others are for its tests and measurements."""

PART_OF_A_NAMESPACE = {"backports.zstd": "backports-zstd"}
"""Packages whose modules share their first name with those of others; from Python 3.14 on this one isn't installed."""


@pytest.fixture(scope="module")
def brought(project: dict[str, Any]) -> dict[str, set[str]]:
    """The packages that each extra brings and an installation without extras lacks."""
    without = installed_with(list(map(Requirement, project["dependencies"])))
    extras = project["optional-dependencies"]
    return {extra: installed_with(list(map(Requirement, extras[extra]))) - without for extra in PRODUCT_EXTRAS}


@pytest.fixture(scope="module")
def packages_of() -> dict[str, set[str]]:
    """The canonical names of the installed packages that bring a module, by the module's first name."""
    found = metadata.packages_distributions()
    by_module = {module: {str(canonicalize_name(name)) for name in names} for module, names in found.items()}
    namespaces = {name.partition(".")[0] for name in PART_OF_A_NAMESPACE}
    parts = {module: {name} for module, name in PART_OF_A_NAMESPACE.items()}
    return {module: names for module, names in by_module.items() if module not in namespaces} | parts


def test_extras_of_every_module_are_known(brought: dict[str, set[str]], packages_of: dict[str, set[str]]) -> None:
    """What the command tells people to install is what pyproject.toml says."""
    installed = set[str]().union(*brought.values())
    for module, extras in EXTRAS.items():
        packages = packages_of[module]
        if packages & installed or module not in PART_OF_A_NAMESPACE:
            assert set(extras) == {extra for extra, names in brought.items() if names & packages}, module


def test_every_optional_module_that_the_product_imports_is_known(
    repository: Path, brought: dict[str, set[str]], packages_of: dict[str, set[str]]
) -> None:
    optional = set[str]().union(*brought.values())
    imported = chain.from_iterable(module.imports for module in read_tree(repository, PRODUCT).values())
    needed = {
        first for first in {name.partition(".")[0] for name in imported} if packages_of.get(first, set()) & optional
    }
    assert {"chdb", "confluent_kafka", "faust"} <= needed
    assert needed - EXTRAS.keys() == set()


def test_every_package_that_an_extra_asks_for_is_known(
    project: dict[str, Any], packages_of: dict[str, set[str]]
) -> None:
    asked = map(Requirement, chain.from_iterable(project["optional-dependencies"][extra] for extra in PRODUCT_EXTRAS))
    known = set[str]().union(*(packages_of[module] for module in EXTRAS))
    assert {canonicalize_name(one.name) for one in asked} - known == set()

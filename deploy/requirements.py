"""Prints what the distributed installation asks for, from pyproject.toml in the working directory.

So an image installs it in a layer of its own, which a change of the program leaves as it is.
"""

import sys
import tomllib
from pathlib import Path

EXTRA = "distributed"


def requirements(pyproject: str) -> list[str]:
    """Return the project's requirements and those of `EXTRA`, given the text of pyproject.toml."""
    project = tomllib.loads(pyproject)["project"]
    return [*project["dependencies"], *project["optional-dependencies"][EXTRA]]


if __name__ == "__main__":
    sys.stdout.write("\n".join(requirements(Path("pyproject.toml").read_text(encoding="utf-8"))) + "\n")

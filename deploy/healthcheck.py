"""Asks a process of this container whether it is well: ``python healthcheck.py URL``. Exit code 0 is yes.

It takes Python's own modules only: the command line with all it loads would cost a core's second at every look.
"""

import http.client
import sys
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 4.0


def fault(url: str, timeout_seconds: float = TIMEOUT_SECONDS) -> str:
    """Return what is wrong with the process that answers at `url`; empty where it answers 200."""
    asked = urlsplit(url)
    if asked.scheme != "http" or not asked.hostname:
        return f"{url!r} is no http:// address"
    connection = http.client.HTTPConnection(asked.hostname, asked.port or 80, timeout=timeout_seconds)
    try:
        connection.request("GET", asked.path or "/")
        answer = connection.getresponse()
        body = answer.read(2000).decode("utf-8", "replace").strip()
    except (OSError, http.client.HTTPException) as error:
        return f"no answer from {url}: {str(error) or type(error).__name__}"
    finally:
        connection.close()
    return "" if answer.status == http.HTTPStatus.OK else f"{url} answered {answer.status}: {body}"


def main(arguments: list[str]) -> int:
    """Check the one URL given; return the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: healthcheck.py URL\n")
        return 2
    if found := fault(arguments[0]):
        sys.stderr.write(f"{found}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`python -m tests.docs`: write what is made from the code into docs/*.md again."""

from __future__ import annotations

import sys

from tests.docs.pages import PAGES, ROOT, made


def main() -> None:
    for path in PAGES:
        before = path.read_text(encoding="utf-8")
        after = made(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
        state = "as it was" if after == before else "written"
        sys.stdout.write(f"{path.relative_to(ROOT)}: {state}\n")


if __name__ == "__main__":
    main()

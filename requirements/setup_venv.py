"""Make the virtual environment `.venv` and put everything in it: `python3 requirements/setup_venv.py`.

This file must be readable by any Python 3, so that an old one gets a sentence instead of a SyntaxError; the work is in
`venv_setup/`, which may use everything that Python 3.11 has. Standard library only: nothing is installed yet.
"""

import sys

SUPPORTED = ((3, 11), (3, 12), (3, 13))


def main():
    if sys.version_info[:2] not in SUPPORTED:
        sys.exit(
            "The lab needs Python 3.11, 3.12 or 3.13; this is %d.%d (%s).\n"  # noqa: UP031
            "Name another one: make setup PYTHON=python3.12"
            % (sys.version_info[0], sys.version_info[1], sys.executable)
        )
    from venv_setup.steps import set_up

    return set_up()


if __name__ == "__main__":
    sys.exit(main())

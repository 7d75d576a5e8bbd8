"""`python -m egam` is `egam`."""

import sys

from egam.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""Run the command `anchorless` as `python -m anchorless`."""

import sys

from anchorless._cli.entry import main

if __name__ == "__main__":
    sys.exit(main())

"""Make the weights of a training run those that come with the package: python scripts/ship.py RUN NAME [REMARKS]

They go to src/egam/pretrained/NAME in half precision, with a card that ends with REMARKS. Commit that folder.
"""

import sys

from egam.weights import ship

if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    print(ship(sys.argv[1], sys.argv[2], *sys.argv[3:]))

"""Make the weights of a training run those that come with the package:

    python scripts/ship.py RUN NAME [--remarks TEXT] [--mask lookahead]

They go to src/egam/pretrained/NAME in half precision, with a card that ends with the remarks. --mask is what to solve
with if it is not what was trained with. `python -m egam.bench.temperature NAME` finds how to sample them and
`python -m egam.bench.card NAME` measures them; then commit that folder.
"""

import argparse

from egam.weights import ship

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("name")
    parser.add_argument("--remarks", default="")
    parser.add_argument("--mask")
    given = parser.parse_args()
    print(ship(given.run, given.name, given.remarks, mask=given.mask))

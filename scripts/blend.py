"""The mean of the weights before and after a training, for what lies between the two:

    python scripts/blend.py BEFORE AFTER SHARE OUT

OUT gets (1 - SHARE) of BEFORE and SHARE of AFTER, and AFTER's description with the share in its recipe; ship.py takes
it like a run. Both must be of one network, one of them trained from the other; AFTER may be told more than BEFORE was.
"""

import argparse
import sys
from pathlib import Path

from egam.bench.program import program
from egam.errors import BadInput
from egam.nn.grown import grown_state
from egam.weights import load_model, save_model


@program
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("share", type=float)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    if not 0 <= given.share <= 1:
        raise BadInput(f"share is {given.share:g}; a number from 0 to 1 is accepted")
    if given.out.exists():
        raise BadInput(f"{given.out}: exists already; name a new folder")
    old, _, _ = load_model(given.before)
    network, problem, about = load_model(given.after)
    if (old.name, old.shape) != (network.name, network.shape):
        raise BadInput(f"{given.before}: has {old.name} {old.shape}; {network.name} {network.shape} is expected")
    before, new = grown_state(old, network.spec), network.state_dict()
    network.load_state_dict({key: value.lerp(new[key], given.share) for key, value in before.items()})
    trained = about["trained"]
    trained["recipe"] += f", weights {given.share:g} of the way from those before"
    given.out.mkdir(parents=True)
    save_model(given.out, network, problem, trained)


if __name__ == "__main__":
    sys.exit(main())

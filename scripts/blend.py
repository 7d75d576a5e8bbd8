"""The mean of the weights before and after a training, for what lies between the two:

    python scripts/blend.py BEFORE AFTER SHARE OUT

OUT gets (1 - SHARE) of BEFORE and SHARE of AFTER, and AFTER's description with the share in its recipe; ship.py takes it
like a run. Both must be of one network, one of them trained from the other.
"""

import sys
from pathlib import Path

from egam.errors import BadInput
from egam.weights import load_model, save_model

if __name__ == "__main__":
    before, after, share, out = sys.argv[1:]
    old, _, _ = load_model(before)
    network, problem, about = load_model(after)
    if old.shape != network.shape:
        raise SystemExit(f"blend: {before} has {old.shape}, {after} {network.shape}; one shape is expected")
    if not 0 <= float(share) <= 1 or Path(out).exists():
        raise SystemExit(f"blend: share {share} must be in [0, 1], and {out} must be new")
    mean = {key: value.lerp(network.state_dict()[key], float(share)) for key, value in old.state_dict().items()}
    network.load_state_dict(mean)
    Path(out).mkdir(parents=True)
    trained = about["trained"]
    trained["recipe"] += f", weights {float(share):g} of the way from those before"
    try:
        save_model(Path(out), network, problem, trained)
    except BadInput as error:
        raise SystemExit(f"blend: {error}") from None

"""Random instances, as objects and as requests hold them."""

import numpy as np

from egam.io import instance_to_dict
from egam.problems import get_problem
from egam.problems.base import unstack


def random_instance(problem, size, seed=0, variant=""):
    arrays = get_problem(problem, variant).generate(np.random.default_rng(seed), 1, size)
    (instance,) = unstack(problem, arrays)
    return instance


def random_dict(problem, size, seed=0):
    return instance_to_dict(random_instance(problem, size, seed))

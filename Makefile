# Two commands that do all of their own set-up: `make solve` and `make test`.

PYTHON := .venv/bin/python

.PHONY: solve test setup clean

solve: setup  ## solve an example with the weights that come with the package
	$(PYTHON) -m egam solve examples/data/orders.csv

test: setup  ## linter, type checker, tests
	$(PYTHON) -m ruff check src tests
	$(PYTHON) -m mypy src/egam
	$(PYTHON) -m pytest

setup: .venv/ready

.venv/ready: pyproject.toml scripts/setup.sh
	./scripts/setup.sh
	touch $@

clean:
	rm -rf .venv

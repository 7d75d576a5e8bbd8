# Two commands that do all of their own set-up: `make solve` and `make test`.

PYTHON := .venv/bin/python
RUN := run-first-tsp20
MINUTES := 1

.PHONY: solve test setup clean

solve: setup  ## train TSP20 for a minute, then solve the public test set with it
	rm -rf $(RUN)
	$(PYTHON) -m egam train tsp --size 20 --minutes $(MINUTES) --out $(RUN)
	$(PYTHON) -m egam eval $(RUN) --public --decode greedy --decode starts

test: setup  ## linter, type checker, tests
	$(PYTHON) -m ruff check src tests
	$(PYTHON) -m mypy src/egam
	$(PYTHON) -m pytest

setup: .venv/ready

.venv/ready: pyproject.toml scripts/setup.sh
	./scripts/setup.sh
	touch $@

clean:
	rm -rf .venv $(RUN)

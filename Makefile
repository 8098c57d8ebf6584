# `make demo` shows what PrOnto does, `make test` checks all of it; both set up .venv first
BIN = .venv/bin
READY = .venv/ready

demo: $(READY)
	$(BIN)/pronto demo -o demo

test: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" sh tests/in_step.sh
	PATH="$(CURDIR)/$(BIN):$$PATH" nbdev_test --n_workers 2
	$(BIN)/pytest -n 2 --dist loadfile

bench: $(READY)
	$(BIN)/python benchmarks/build.py

$(READY): requirements.lock pyproject.toml
	python3 -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

.PHONY: demo test bench

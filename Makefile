# `make demo` shows what PrOnto does, `make test` checks it in some minutes, `make test-all` checks all of it,
# `make docs` builds the site into site/, `make notebooks` executes again what nbs/executed shows,
# `make tables` makes the committed tables of the demo again,
# `make real BIBLES=DIR TEACHER=MODEL` runs the studies of real translations; each sets up .venv first
BIN = .venv/bin
READY = .venv/ready
WITH = PATH="$(CURDIR)/$(BIN):$$PATH"

demo: $(READY)
	$(BIN)/pronto demo -o demo

lint: $(READY)
	$(WITH) sh tests/in_step.sh
	$(BIN)/ruff check -q --no-cache

test: lint
	$(BIN)/python tests/notebooks.py --n_workers 2
	$(BIN)/pytest -m "not slow" -n 2 --dist worksteal

test-all: lint
	$(BIN)/python tests/notebooks.py --n_workers 2 --flags slow
	$(BIN)/pytest -n 3 --dist worksteal # On two cores: some wait for processes, a browser or a scheduler
	@for browser in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$browser >/dev/null && exit 0; done; \
	echo "Skipped the browser's tests of the report: there is no Chromium (on Debian: apt install chromium)"

# Every protocol on real translations, then more sources and translations by probe: BIBLES is a folder as paper_tables/real/plan.toml
# describes it, TEACHER an encoder
real: $(READY)
	$(BIN)/pronto study real --data $(BIBLES) -m $(TEACHER) -o data/study --workers 2
	$(BIN)/pronto study breadth --data $(BIBLES) -m $(TEACHER) -o data/breadth --workers 2

# The outputs in nbs/executed, by today's code; what needs data that are not at hand is named
notebooks: $(READY)
	$(WITH) python tests/execute.py
	$(BIN)/nbdev_clean

# Tables 1 to 5 of the demo in paper_tables, by today's code
tables: $(READY)
	$(BIN)/python tests/committed_tables.py

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict -q
	@echo "Open site/index.html"

bench: $(READY)
	$(BIN)/python benchmarks/build.py

# uv installs in a minute what takes pip four, and compiles it, as pip does; `make INSTALLER=pip` does without uv
INSTALLER = uv
PIP = $(BIN)/pip --disable-pip-version-check
UV = UV_FIND_LINKS="$$PIP_FIND_LINKS" UV_DEFAULT_INDEX="$$PIP_INDEX_URL" $(BIN)/uv pip install -q --compile-bytecode --python $(BIN)/python

$(READY): requirements.lock pyproject.toml
	python3 -m venv .venv
	{ test $(INSTALLER) = uv && $(PIP) install -q uv && $(UV) -r requirements.lock; } || $(PIP) install -q -r requirements.lock
	$(PIP) install -q --no-deps --no-build-isolation -e .
	touch $@

.PHONY: demo lint test test-all real notebooks tables docs bench

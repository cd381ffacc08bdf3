# What people and continuous integration do with this package. `make help` lists it.

PREFIX ?= /usr/local
DESTDIR ?=
# Arguments of `reachability watch` for `make watch` and `make serve`, for example ARGS="--paths 192.0.2.1".
ARGS ?=

BINARY := .build/release/reachability

.PHONY: help watch serve build install uninstall deb test test-browser test-api test-prometheus test-systemd test-powercut sanitize lint format docs examples bench soak nightly check clean dependencies

help: ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 21

watch: dependencies ## Install what is missing, build, and watch the network at large. ARGS="..." are passed on.
	@PRODUCTS=reachability Scripts/build-release
	@exec $(BINARY) watch $(ARGS)

# The build is not optimised: it takes half the time, and it is the one that `make test` uses.
serve: dependencies ## Install what is missing, build, and run the monitoring service; prints its address. ARGS="..." are passed on.
	@for product in reachability-tools reachability; do Scripts/swift-build --product $$product || exit; done
	@exec .build/debug/reachability serve $(ARGS)

build: dependencies ## Build the optimised command.
	@Scripts/build-release

install: ## Install the command, manual pages and completions under $(DESTDIR)$(PREFIX); builds only what is missing.
	@test -x $(BINARY) -a -x $(BINARY)-tools || $(MAKE) --no-print-directory build
	@Scripts/install-files $(BINARY) "$(DESTDIR)" "$(PREFIX)"

uninstall: ## Remove what `make install` with the same DESTDIR and PREFIX has installed.
	@Scripts/install-files --remove "$(DESTDIR)" "$(PREFIX)"

deb: build ## Make the Debian packages, .build/deb/*.deb.
	@Scripts/build-deb $(BINARY)

test: dependencies ## Install what is missing and run all tests, with root or without.
	@Scripts/test

test-browser: dependencies ## Test the dashboard in Chromium, in a network that is lost and comes back.
	@Scripts/test-service browser

test-api: dependencies ## Test the interface of the service by its own description, with schemathesis.
	@Scripts/test-service api

test-prometheus: dependencies ## Test metrics, alert rules and the Grafana dashboard with a real Prometheus.
	@Scripts/test-service prometheus

test-systemd: build ## Run the systemd units of the package in a virtual machine; needs root.
	@Scripts/test-systemd $(BINARY)

test-powercut: build ## Cut the power of a virtual machine that writes to an outbox; needs root.
	@Scripts/test-powercut $(BINARY)

sanitize: dependencies ## Run the tests under Thread Sanitizer and Address Sanitizer.
	@Scripts/sanitize thread
	@Scripts/sanitize address

lint: ## Check the format of the sources.
	@Scripts/lint

format: ## Format the sources.
	@Scripts/swift-files | xargs -0 swift format --in-place

docs: dependencies ## Build the documentation into .build/docs and compile its examples.
	@Scripts/build-docs
	@Scripts/check-snippets

examples: dependencies ## Build the examples and run their tests.
	@Scripts/build-examples

bench: build ## Measure the command beside programs in C (see Benchmarks/README.md).
	@Benchmarks/run

soak: build ## Compare the command with packets through random network trouble for half an hour.
	@Benchmarks/soak

nightly: ## Run everything that takes too long for every change: full counts, all sanitizers, packages, virtual machines.
	@.ci/nightly

check: dependencies ## Check that unsafe code stays in its modules, and what a dependent package gets.
	@Scripts/check-unsafe
	@Scripts/check-downstream

clean: ## Remove everything that was built.
	rm -rf .build examples/.build

dependencies:
	@Scripts/install-dependencies

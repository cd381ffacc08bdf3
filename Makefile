# The targets for developers and continuous integration. `make help` lists them.

PREFIX ?= /usr/local
DESTDIR ?=
# Arguments of `reachability watch` for `make watch` and `make serve`, for example ARGS="--paths 192.0.2.1".
ARGS ?=

BINARY := .build/release/reachability

.PHONY: help watch serve build install uninstall deb release test test-browser test-api test-prometheus test-systemd test-powercut sanitize lint format docs examples bench soak nightly check clean dependencies

help: ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 21

watch: dependencies ## Install missing dependencies, build, and run `reachability watch $ARGS`.
	@PRODUCTS=reachability Scripts/build-release
	@exec $(BINARY) watch $(ARGS)

# A debug build: it takes half the time of an optimised one, and `make test` uses the same build.
serve: dependencies ## Install missing dependencies, build, and run `reachability serve $ARGS`, which prints its address.
	@for product in reachability-tools reachability; do Scripts/swift-build --product $$product || exit; done
	@exec .build/debug/reachability serve $(ARGS)

build: dependencies ## Build the optimised command.
	@Scripts/build-release

install: ## Install the command, manual pages and completions under $(DESTDIR)$(PREFIX); builds the programs first if they do not exist.
	@test -x $(BINARY) -a -x $(BINARY)-tools || $(MAKE) --no-print-directory build
	@Scripts/install-files $(BINARY) "$(DESTDIR)" "$(PREFIX)"

uninstall: ## Remove what `make install` with the same DESTDIR and PREFIX has installed.
	@Scripts/install-files --remove "$(DESTDIR)" "$(PREFIX)"

deb: build ## Make the Debian packages, .build/deb/*.deb.
	@Scripts/build-deb $(BINARY)

release: dependencies ## Make all files of the release $VERSION in .build/release-$VERSION.
	@Scripts/release "$(VERSION)"

test: dependencies ## Install missing dependencies and run all tests, as root or as another user.
	@Scripts/test

test-browser: dependencies ## Test the dashboard in Chromium, while the network goes down and comes back.
	@Scripts/test-service browser

test-api: dependencies ## Test the HTTP APIs of the service and the hub against their OpenAPI documents, with schemathesis.
	@Scripts/test-service api

test-prometheus: dependencies ## Test metrics, alert rules and the Grafana dashboard with a real Prometheus.
	@Scripts/test-service prometheus

test-systemd: build ## Run the systemd units of the package in a virtual machine; needs root.
	@Scripts/test-systemd $(BINARY)

test-powercut: build ## Kill a virtual machine that writes to an outbox, and check that no stored request is lost; needs root.
	@Scripts/test-powercut $(BINARY)

sanitize: dependencies ## Run the tests under Thread Sanitizer and Address Sanitizer.
	@Scripts/sanitize thread
	@Scripts/sanitize address

lint: ## Check the format of the source files.
	@Scripts/lint

format: ## Format the source files.
	@Scripts/swift-files | xargs -0 swift format --in-place

docs: dependencies ## Build the documentation into .build/docs and compile its examples.
	@Scripts/build-docs
	@Scripts/check-snippets

examples: dependencies ## Build the examples and run their tests.
	@Scripts/build-examples

bench: build ## Compare the costs of the command and of C programs (see Benchmarks/README.md).
	@Benchmarks/run

soak: build ## Compare the output of the command with real packets during random network failures, for half an hour.
	@Benchmarks/soak

nightly: ## Run the checks that take too long for each change: full iteration counts, all sanitizers, packages, virtual machines.
	@.ci/nightly

check: dependencies ## Check which modules contain unsafe code, and what a dependent package fetches and builds.
	@Scripts/check-unsafe
	@Scripts/check-downstream

clean: ## Remove all build results.
	rm -rf .build examples/.build

dependencies:
	@Scripts/install-dependencies

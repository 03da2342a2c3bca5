# The front door. `make run` shows Vervet at work, `make test` proves it; the rest is for those who change it.
# On Debian 12 with Rust, whatever else a target needs is installed on first use.

CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)

# `make stress` does for minutes what `make test` does for seconds.
STRESS_SECONDS ?= 300
# `make soak` runs everything that is worth running for long, this long in all.
SOAK_MINUTES ?= 60

.PHONY: run test test-all conformance deb stress soak bench bench-code bench-embed bench-gc bench-green bench-net bench-profiler bench-start bench-threads check fmt clean

run:
	tests/install-packages.sh run
	$(CARGO) build --release -p vervet
	# As a package does when it is installed: the first run of any program then finds the class library compiled.
	-$(TARGET_DIR)/release/vervet aot $(addprefix /usr/lib/mono/4.5/,mscorlib.dll System.dll System.Core.dll)
	mkdir -p $(TARGET_DIR)/samples
	mcs -nologo -langversion:latest -r:System.Core.dll -out:$(TARGET_DIR)/samples/hello.exe samples/hello/Program.cs
	$(TARGET_DIR)/release/vervet $(TARGET_DIR)/samples/hello.exe

test:
	tests/install-packages.sh test
	$(CARGO) test --profile ci --workspace
	$(CARGO) test --profile ci -p vervet-handles -p vervet-parking -p vervet-sched -p vervet-profiler --features loom --lib
	$(CARGO) test --profile ci -p vervet-heap --features loom --test models
	tests/run.sh

# The same, with all of the suites of which `make test` runs a sample.
test-all: export TEST_SHARE = all
test-all: test

# Whole suites that nobody here wrote; `make test` has a part of them.
conformance:
	tests/install-packages.sh test
	tests/run.sh conformance expected.txt conformance-mcs all

# Packages for Debian and Ubuntu, and a tarball, in target/packages.
deb:
	tests/install-packages.sh test
	$(CARGO) build --release -p vervet -p vervet-embedding
	packaging/build.sh $(TARGET_DIR)/release/vervet $(TARGET_DIR)/packages

stress:
	tests/install-packages.sh test
	tests/stress/run.sh $(STRESS_SECONDS)

soak:
	tests/soak.sh $(SOAK_MINUTES)

bench:
	tests/install-packages.sh test
	$(CARGO) build --release -p vervet
	benches/run.sh $(TARGET_DIR)/release/vervet

bench-code bench-gc bench-net bench-profiler bench-start bench-threads: bench-%:
	tests/install-packages.sh test
	$(CARGO) build --release -p vervet
	benches/$*.sh $(TARGET_DIR)/release/vervet

bench-embed:
	tests/install-packages.sh test
	$(CARGO) build --release -p vervet-embedding
	benches/embed.sh $(TARGET_DIR)/release/libvervet_embedding.so

bench-green:
	tests/install-packages.sh test
	$(CARGO) build --release -p vervet -p vervet-load
	benches/green.sh $(TARGET_DIR)/release/vervet

check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --profile ci --workspace --all-targets -- -D warnings

fmt:
	$(CARGO) fmt --all

clean:
	$(CARGO) clean
	rm -rf .cache

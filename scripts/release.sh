#!/usr/bin/env bash
# Runs everything that must pass before a release: all checks, and then what takes too long for check.sh. Filters and
# inputs are generated anew each time. The whole takes hours; one argument runs a single step.
#
#   scripts/release.sh [checks | pages | fuzz | race | long | engines | views | clients | trino | earlier | packages | bench]
#
# FUZZ is the time of each fuzz target (default 5m), FILTERS the number of generated filters per engine (default 2000),
# RULES the number of random rules per engine (default 1000).
# A seed that is printed repeats a run: SEED=7 scripts/release.sh trino.
set -euo pipefail
cd "$(dirname "$0")/.."

# The options of scripts/check.sh, so that packages are compiled once for both. What is released is built with its own.
export GOFLAGS="${GOFLAGS:-} -vet=off -trimpath -tags=lambda.norpc,netgo,osusergo"
seed=${SEED:-$(date +%s)}
runs=$(mktemp -d)
cleanup() {
	[ ! -d "$runs/trino" ] || scripts/servers/trino.sh stop "$runs/trino" || true
	rm -rf "$runs"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

say() { printf '\n== %s (after %d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

checks() { CI=true bash scripts/check.sh; }

fuzz() { bash scripts/fuzz.sh "${FUZZ:-5m}"; }

# race runs every test with the race detector, also those that check.sh leaves to the ordinary run.
race() { go test -race -count=1 -timeout 3h $(go list ./... | grep -v /infra$); }

# pages shows every report and mail in a browser, not only the longest, and every screen of the console in each theme in
# each width, and measures the console there.
pages() {
	local chromium
	chromium=$(scripts/tools/chromium.sh)
	ORRERY_TEST_CONSOLE=1 ORRERY_CHROMIUM=$chromium go test -count=1 -timeout 2h ./scripts/console
	ORRERY_TEST_CONSOLE=1 ORRERY_CHROMIUM=$chromium go test -count=1 -timeout 1h ./scripts/console/bench
	ORRERY_TEST_CONSOLE=1 ORRERY_CHROMIUM=$chromium go test -count=1 -timeout 1h ./shared/report -run 'Browser|Pages|Readme'
}

# long runs every test at its long level: a fault at every request of an import, a crash at every step, every filter of
# the suite of engines, the incidents of every scene, and so on. It asks a deployment in LocalStack with every filter.
long() {
	local chromium
	chromium=$(scripts/tools/chromium.sh)
	ORRERY_TEST_LONG=1 ORRERY_TEST_DEPLOYED=1 ORRERY_CHROMIUM=$chromium go test -count=1 -timeout 6h ./...
}

# engines compares the engines of one machine with the reference evaluation.
engines() {
	go test -count=1 -timeout 3h ./shared/engine/local -run 'TestDifferential|TestRules' \
		-differential.filters="${FILTERS:-2000}" -differential.seed="$seed" -whatif.rules="${RULES:-1000}" -whatif.seed="$seed"
}

# views runs the programs that orrery sql prints for Python, and the package for Python as a wheel.
views() {
	python3 -m venv "$runs/python"
	"$runs/python/bin/pip" install -q pyarrow pandas polars pyspark 'setuptools>=77' wheel
	ORRERY_TEST_PYTHON=$runs/python/bin/python go test -count=1 ./scripts/orrery -run 'TestViewsOfPython|TestPythonPackage'
}

# clients generates clients of the API with seven generators, compiles them, and compares their answers. It also fetches
# the client for Go as another module does.
clients() {
	local tools
	tools=$(scripts/tools/clients.sh)
	ORRERY_TEST_CLIENTS=$tools go test -count=1 -timeout 1h -v ./scripts/orrery -run 'TestClients|TestGoClientIsFetched'
}

# trino runs the engine suite and generated filters in full, over Athena's protocol and Trino's own.
trino() {
	local url
	url=$(scripts/servers/trino.sh start "$runs/trino")
	export ORRERY_TEST_TRINO=$url ORRERY_TEST_TRINO_LAKE=$runs/trino/lake
	local generated=(-differential.filters="${FILTERS:-2000}" -differential.seed="$seed")
	go test -count=1 -timeout 3h ./shared/engine/athena -run TestDifferentialOverTrino "${generated[@]}"
	go test -count=1 -timeout 3h ./shared/engine/athena -run TestEngineOverTrino
	go test -count=1 -timeout 3h ./shared/engine/trino "${generated[@]}" -whatif.rules="${RULES:-1000}" -whatif.seed="$seed"
	go test -count=1 -timeout 1h ./shared/pattern -run OnTrino -joni.patterns=30000
	go test -count=1 -timeout 1h ./shared/sqlgen -run OnTrino
	go test -count=1 ./scripts/orrery -run TestViewOfTrino
	scripts/servers/trino.sh stop "$runs/trino"
}

# earlier runs the programs of earlier versions on folders that this version has written.
earlier() {
	mkdir "$runs/earlier"
	git clone -q . "$runs/earlier/checkout"
	for commit in scripts/orrery/testdata/earlier/*.tar.gz; do
		commit=$(basename "$commit" .tar.gz)
		(cd "$runs/earlier/checkout" && git checkout -q "$commit" && go build -o "$runs/earlier/orrery-$commit" ./scripts/orrery)
	done
	ORRERY_TEST_EARLIER=$runs/earlier go test -count=1 -v ./scripts/orrery -run TestStepBack
}

# packages makes the functions, the release of one platform and the deployment on AWS twice, installs and starts what is for
# this machine, builds and vets the command for all platforms, and then makes the whole release.
packages() {
	ORRERY_TEST_BUILD=1 ORRERY_TEST_LONG=1 go test -count=1 -timeout 1h ./scripts/internal/lambdazip
	ORRERY_TEST_BUILD=1 go test -count=1 -timeout 1h ./scripts/internal/packaging
	bash scripts/package.sh "${VERSION:-0.0.0-unreleased}" --out "$runs/release"
}

# bench prints the figures of a million records for the notes of the release.
bench() { go run ./scripts/orrery bench --records 1000000; }

steps=(checks pages fuzz race long engines views clients trino earlier packages bench)
case "${1:-all}" in
all) ;;
checks | pages | fuzz | race | long | engines | views | clients | trino | earlier | packages | bench) steps=("$1") ;;
*)
	echo "release.sh: there is no step $1; use one of ${steps[*]}" >&2
	exit 2
	;;
esac
for step in "${steps[@]}"; do
	say "$step, seed $seed"
	"$step"
done

#!/usr/bin/env bash
# Everything that is checked, the same for people and for CI: formatting, vet, lint, all tests and the coverage of the
# core, the race detector, the zips of the functions, the CDK templates, and then the product beside real servers:
# DynamoDB Local, Trino, and the whole deployment in LocalStack. Fuzz targets run their seeds alone; random fuzzing is
# scripts/fuzz.sh, before a release.
#
# Servers are downloaded once into a cache, run on free loopback ports and are stopped.
# Where one needs something that this machine lacks, its proof is left out and named at the end; with CI=true that is
# a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

export RAPID_SEED=1 # property tests draw the same cases each time
lint_version=v2.15.0
lint=${XDG_CACHE_HOME:-$HOME/.cache}/orrery/golangci-lint-$lint_version/golangci-lint
core="filter catalog lake record query sqlgen planet"
core_floor=90

say() { printf '\n== %s (after %d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

runs=$(mktemp -d) # a folder for each server that runs, a process id and a log for each work beside
left_out=()
cleanup() {
	for work in "$runs"/*.pid; do
		[ ! -f "$work" ] || kill -- "-$(cat "$work")" 2>/dev/null || true
	done
	for folder in "$runs"/*/; do
		[ ! -d "$folder" ] || scripts/servers/"$(basename "$folder")".sh stop "$folder" || true
	done
	rm -rf "$runs"
}
trap cleanup EXIT

# start_beside WORK: begins the function of that name beside what follows, in a process group of its own.
start_beside() {
	set -m
	"$1" </dev/null >"$runs/$1.log" 2>&1 &
	set +m
	echo $! >"$runs/$1.pid"
}

# finish WORK: waits for its end, shows what it said, and fails if it did.
finish() {
	local code=0
	wait "$(cat "$runs/$1.pid")" || code=$?
	rm "$runs/$1.pid"
	cat "$runs/$1.log"
	return $code
}

# server NAME: starts one and leaves its URL in $url. False where something is missing that it needs.
server() {
	local code=0
	url=$(scripts/servers/"$1".sh start "$runs/$1") || code=$?
	[ $code -eq 0 ] || without "$1" $code
}

stop() { scripts/servers/"$1".sh stop "$runs/$1" && rm -rf "${runs:?}/$1"; }

# without PROOF CODE: leaves a proof out when the code says that something is missing, else gives up.
without() {
	[ "$2" -eq 3 ] && [ "${CI:-}" != true ] || { echo "check.sh: $1 could not be started" >&2; exit 1; }
	left_out+=("$1")
	return 1
}

need() { # need COMMAND MEND
	command -v "$1" >/dev/null 2>&1 || { echo "check.sh: $1 is missing. $2" >&2; exit 1; }
}

need git "Install git from your system's packages."
need go "Install Go 1.26 or later from your system's packages or from go.dev/dl."
need "${CC:-gcc}" "DuckDB is linked through cgo: install a C compiler (Debian: apt-get install gcc g++; macOS: xcode-select --install)."

before=$(git status --porcelain)

# What cannot be downloaded is said when its server is started.
downloads() { for s in trino localstack; do scripts/servers/$s.sh fetch || true; done >/dev/null 2>&1; }
start_beside downloads

say "formatting"
unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l) # those of other systems too, which the linter does not read
[ -z "$unformatted" ] || { echo "not formatted (run gofmt -w):"; echo "$unformatted"; exit 1; }

say "vet and lint: golangci-lint $lint_version"
[ -x "$lint" ] || GOBIN=$(dirname "$lint") go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$lint_version"
"$lint" run ./...

say "all tests, and the coverage of the core"
packages=$(for p in $core; do printf './shared/%s,' "$p"; done)
profile=$runs/profile
go test -vet=off -timeout 30m -coverpkg="${packages%,}" -coverprofile="$profile" ./... 2>&1 | grep -v 'no test files\|coverage: \[no statements\]' | sed 's/\tcoverage: .*//'
total=$(go tool cover -func="$profile" | awk '/^total:/ { sub("%", "", $3); print $3 }')
echo "core coverage: $total % (floor $core_floor %)"
awk -v t="$total" -v f="$core_floor" 'BEGIN { exit !(t >= f) }' || { echo "core coverage is below $core_floor %" >&2; exit 1; }

# -short skips what the race detector would see nothing in: long tests that do one thing at a time. Nor is infra run, of
# which all tests but one need the CDK, and compiling that once more takes a minute.
say "tests with the race detector, generated cases fewer"
go test -race -short -vet=off -timeout 30m $(go list ./... | grep -v /infra$)

say "functions: every zip twice, the same bytes"
ORRERY_TEST_BUILD=1 go test -count=1 ./scripts/internal/lambdazip

say "infrastructure: templates, assertions, cdk-nag"
if command -v node >/dev/null 2>&1; then
	ORRERY_TEST_CDK=1 go test -count=1 ./infra
else
	echo "check.sh: node is missing. Install node 20 or later from your system's packages or nodejs.org." >&2
	without "infrastructure" 3 || true
fi

finish downloads

say "DynamoDB: planets, keys, ledger, queries, and what their functions may do"
if server dynamodb; then
	ORRERY_TEST_DYNAMODB=$url go test -p 1 ./shared/dynamotable/... ./shared/planet/planetdynamo ./shared/keys/... ./shared/search/pending/pendingdynamo ./shared/lakestate/... ./shared/ingest/cloud/...
	ORRERY_TEST_DYNAMODB=$url go test ./infra -run TestGrantsCoverStoreActions
	ORRERY_TEST_DYNAMODB=$url go test ./scripts/orrery -run TestKeysOfADeployment
	stop dynamodb
fi

say "Trino: one meaning on every engine, through Athena's protocol too"
if server trino; then
	export ORRERY_TEST_TRINO=$url ORRERY_TEST_TRINO_LAKE=$runs/trino/lake
	go test -timeout 20m ./shared/engine/athena -run TestDifferentialOverTrino -differential.filters=300
	go test -timeout 20m ./shared/engine/athena -run TestEngineOverTrino -suite.every=10 # minutes more with all
	go test -timeout 20m ./shared/engine/trino -run 'TestGoldens|TestPartitions|TestBytes|TestManyGroups|TestMostExpressions|TestDifferential' -differential.filters=50
	go test -timeout 10m ./shared/sqlgen -run OnTrino
	go test -p 1 ./scripts/athenad ./scripts/orrery -run 'TestTables|TestServeOverTrino'
	unset ORRERY_TEST_TRINO ORRERY_TEST_TRINO_LAKE
	stop trino
fi

say "LocalStack: object storage, and the whole deployment"
if server localstack; then
	ORRERY_TEST_LOCALSTACK=$url go test ./shared/blob/s3 -run LocalStack
	stop localstack
	ORRERY_TEST_DEPLOYED=1 go test -count=1 -timeout 30m -parallel 3 ./scripts/orrery -run TestDeployed
fi

say "clean tree"
after=$(git status --porcelain)
[ "$before" = "$after" ] || { echo "the checks changed the tree:"; git status --short; exit 1; }
[ ${#left_out[@]} -eq 0 ] || echo "left out, because this machine lacks what it needs: ${left_out[*]}"
echo "all checks passed"

#!/usr/bin/env bash
# Runs all checks, for people and for CI: formatting, vet, lint, all tests and the coverage of the core, the race
# detector, the zips of the functions, the console in a browser, the CDK templates, and then the tests with real
# servers: DynamoDB Local, Trino, and the whole deployment in LocalStack. Fuzz targets run only their seeds;
# scripts/fuzz.sh fuzzes with random input before a release.
#
# Servers are downloaded once into a cache, run on free loopback ports and are stopped afterwards.
# If this machine lacks a requirement of a server, its checks are skipped and listed at the end; with CI=true that is a
# failure.
set -euo pipefail
cd "$(dirname "$0")/.."

export RAPID_SEED=1 # property tests draw the same cases each time
lint_version=v2.15.0
lint=${XDG_CACHE_HOME:-$HOME/.cache}/orrery/golangci-lint-$lint_version/golangci-lint
core="filter catalog lake record query sqlgen planet"
core_floor=90

say() { printf '\n== %s (after %d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

runs=$(mktemp -d) # a folder for each running server, a process ID and a log for each background job
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

# start_beside JOB: starts the function of that name in the background, in its own process group.
start_beside() {
	set -m
	"$1" </dev/null >"$runs/$1.log" 2>&1 &
	set +m
	echo $! >"$runs/$1.pid"
}

# finish JOB: waits for its end, prints its output, and fails if it failed.
finish() {
	local code=0
	wait "$(cat "$runs/$1.pid")" || code=$?
	rm "$runs/$1.pid"
	cat "$runs/$1.log"
	return $code
}

# server NAME: starts a server and sets url to its URL. It returns false if this machine lacks a requirement.
server() {
	local code=0
	url=$(scripts/servers/"$1".sh start "$runs/$1") || code=$?
	[ $code -eq 0 ] || without "$1" $code
}

stop() { scripts/servers/"$1".sh stop "$runs/$1" && rm -rf "${runs:?}/$1"; }

# without CHECK CODE: skips a check if the exit code means that a requirement is missing, else exits.
without() {
	[ "$2" -eq 3 ] && [ "${CI:-}" != true ] || { echo "check.sh: $1 could not be started" >&2; exit 1; }
	left_out+=("$1")
	return 1
}

need() { # need COMMAND REMEDY
	command -v "$1" >/dev/null 2>&1 || { echo "check.sh: $1 is missing. $2" >&2; exit 1; }
}

need git "Install git from your system's packages."
need go "Install Go 1.26 or later from your system's packages or from go.dev/dl."
need "${CC:-gcc}" "DuckDB is linked through cgo: install a C compiler (Debian: apt-get install gcc g++; macOS: xcode-select --install)."

before=$(git status --porcelain)

# A failed download is reported when its server is started.
downloads() { for s in trino localstack; do scripts/servers/$s.sh fetch || true; done >/dev/null 2>&1; }
start_beside downloads

say "formatting"
unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l) # including files of other systems, which the linter does not read
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

# -short skips long sequential tests, in which the race detector finds nothing. Packages without goroutines are skipped,
# too, and those that only build or measure, because their libraries take minutes to compile again. The packages with the
# longest tests run only some: the others do the same work one query or one import at a time.
say "tests with the race detector, generated cases fewer"
sequential='/infra$|/scripts/(console|internal/bench|internal/cost)$|/shared/(catalog|filter|gen|lake|logformat|query|record|report|sqlgen|tabular)$'
long='/shared/(engine/(athena|local|scan)|ingest/(cloud|datadir))$'
race() { go test -race -short -vet=off -timeout 30m "$@"; }
race $(go list ./... | grep -vE "$sequential|$long")
race ./shared/engine/athena ./shared/engine/local ./shared/engine/scan -skip 'Differential|Damage|Mutations|Unreadable|Versions'
race ./shared/ingest/cloud ./shared/ingest/datadir -run 'AnyCompression|CompleteThrough|Concurrent|During|EveryObject|Grown|Huge|Interleaving|Interrupted|Parts|RunPolls|While'

say "functions: every zip, and some of them again with the same bytes"
ORRERY_TEST_BUILD=1 go test -count=1 ./scripts/internal/lambdazip

say "console: types"
if tsc=$(scripts/tools/tsc.sh); then
	ORRERY_TSC=$tsc go test -count=1 ./scripts/console -run TestTypes
else
	without "types of the console" $? || true
fi

say "console: pure modules and every screen in a browser"
if chromium=$(scripts/tools/chromium.sh); then
	ORRERY_TEST_CONSOLE=1 ORRERY_CHROMIUM=$chromium go test -count=1 -timeout 10m ./scripts/console
else
	without "console in a browser" $? || true
fi

say "infrastructure: templates, assertions, cdk-nag"
if command -v node >/dev/null 2>&1; then
	ORRERY_TEST_CDK=1 go test -count=1 ./infra
else
	echo "check.sh: node is missing. Install node 20 or later from your system's packages or nodejs.org." >&2
	without "infrastructure" 3 || true
fi

finish downloads

say "DynamoDB: planets, saved filters, keys, ledger, queries, and the grants of their functions"
if server dynamodb; then
	ORRERY_TEST_DYNAMODB=$url go test -p 1 ./shared/dynamotable/... ./shared/document/documentdynamo ./shared/planet/planetdynamo ./shared/keys/... ./shared/search/pending/pendingdynamo ./shared/lakestate/...
	# Its other tests do not use the server.
	ORRERY_TEST_DYNAMODB=$url go test -short ./shared/ingest/cloud -run 'AtEveryRequest|DelayedRequest|UnderFaults|UnreliableNetwork|UseTheirGrants'
	ORRERY_TEST_DYNAMODB=$url go test ./infra -run TestGrantsCoverStoreActions
	ORRERY_TEST_DYNAMODB=$url go test ./scripts/orrery -run TestKeysOfADeployment
	stop dynamodb
fi

say "Trino: equal answers from every engine, also through Athena's protocol"
if server trino; then
	export ORRERY_TEST_TRINO=$url ORRERY_TEST_TRINO_LAKE=$runs/trino/lake
	go test -timeout 20m ./shared/engine/athena -run TestDifferentialOverTrino -differential.filters=60
	go test -timeout 20m ./shared/engine/athena -run TestEngineOverTrino -suite.every=20 # minutes more with all
	go test -timeout 20m ./shared/engine/trino -run 'TestGoldens|TestPartitions|TestBytes|TestManyGroups|TestMostExpressions|TestDamagedObject|TestDifferential' -differential.filters=12
	go test -timeout 10m ./shared/sqlgen -run OnTrino
	go test -p 1 ./scripts/athenad ./scripts/orrery -run 'TestTables|TestServeOverTrino'
	unset ORRERY_TEST_TRINO ORRERY_TEST_TRINO_LAKE
	stop trino
fi

say "LocalStack: object storage, and the whole deployment"
if server localstack; then
	ORRERY_TEST_LOCALSTACK=$url go test ./shared/blob/s3 ./scripts/internal/rawbucket -run LocalStack
	stop localstack
	ORRERY_TEST_DEPLOYED=1 go test -count=1 -timeout 30m -parallel 3 ./scripts/orrery -run TestDeployed
fi

say "clean tree"
after=$(git status --porcelain)
[ "$before" = "$after" ] || { echo "the checks changed the tree:"; git status --short; exit 1; }
[ ${#left_out[@]} -eq 0 ] || echo "skipped, because this machine lacks a requirement: ${left_out[*]}"
echo "all checks passed"

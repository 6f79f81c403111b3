#!/usr/bin/env bash
# Runs the checks, for people and for CI.
#
#   scripts/check.sh [quick | unit | race | pages | servers | deployed | all]
#
#   quick     formatting, vet, and the short tests of the packages that have changed and of those that import them
#   unit      formatting, vet, lint, all tests, the coverage of the core
#   race      the race detector, on the packages whose code runs in several goroutines
#   pages     the console and the reports in a browser, the types of the console, the API against its OpenAPI document
#   servers   the tests with DynamoDB Local, with LocalStack's object storage, and with Trino
#   deployed  the zips of the functions, the CDK templates, the whole deployment in LocalStack
#   all       all of them, the default: some run beside others
#
# quick compares with the branch's upstream, or with the commit that BASE names. Fuzz targets run only their seeds;
# scripts/fuzz.sh fuzzes with random input before a release.
#
# Servers are downloaded once into a cache, run on free loopback ports and are stopped afterwards.
# If this machine lacks a requirement of a server, its checks are skipped and listed at the end; with CI=true that is a
# failure.
set -euo pipefail
cd "$(dirname "$0")/.."

export RAPID_SEED=1 # property tests draw the same cases each time
export GOFLAGS="${GOFLAGS:-} -vet=off" # golangci-lint vets
export GOGC=${GOGC:-400} # tests and compilers are short-lived: collecting less often saves a third of their time
lint_version=v2.15.0
lint=${XDG_CACHE_HOME:-$HOME/.cache}/orrery/golangci-lint-$lint_version/golangci-lint
core="filter catalog lake record pattern query sqlgen planet"
core_floor=90

part=${1:-all}
case $part in
quick | unit | race | pages | servers | deployed | all) ;;
*)
	echo "check.sh: there is no part $part; use quick, unit, race, pages, servers, deployed or all" >&2
	exit 2
	;;
esac

# scripts/build.sh builds the functions with these options. Tests are built with them too, so that packages are compiled once
# for both, although only tests are linked with cgo. quick leaves them out: it uses what developers have already compiled.
[ "$part" = quick ] || export GOFLAGS="$GOFLAGS -trimpath -tags=lambda.norpc,netgo,osusergo"

say() { printf '\n== %s (after %d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

runs=$(mktemp -d) # a folder for each running server, a process ID and a log for each background job, the skipped checks
cleanup() {
	for work in "$runs"/*.pid; do
		[ ! -f "$work" ] || kill -- "-$(cat "$work")" 2>/dev/null || true
	done
	find "$runs" -name pid \( -path '*/dynamodb/pid' -o -path '*/localstack/pid' -o -path '*/trino/pid' \) | while read -r pid; do
		folder=$(dirname "$pid")
		scripts/servers/"$(basename "$folder")".sh stop "$folder" </dev/null || true
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
	echo "$1" >>"$runs/left_out"
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

tests() { go test -timeout 30m "$@" 2>&1 | sed -u '/no test files/d; s/\tcoverage: .*//'; }

formatting() {
	say "formatting"
	local unformatted
	unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l) # including files of other systems, which the linter does not read
	[ -z "$unformatted" ] || { echo "not formatted (run gofmt -w):"; echo "$unformatted"; exit 1; }
}

# changed prints the packages that differ from the base, and the packages whose code or tests import one of them. A file
# in a folder without a package, such as testdata, belongs to the package above it.
changed() {
	local base
	base=$(git merge-base HEAD "${BASE:-$(git rev-parse --verify --quiet '@{upstream}' 2>/dev/null || echo HEAD)}")
	{ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | xargs -r -d '\n' dirname | sort -u >"$runs/folders"
	go list -f '{{.Dir}} {{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... |
		awk -v root="$PWD" '
			FNR == NR { folders[$0]; next }
			{ package[$1] = $2; line[FNR] = $0 }
			END {
				for (folder in folders) {
					at = root "/" folder
					while (at != root && !(at in package)) sub("/[^/]*$", "", at)
					if (at in package) hit[package[at]]
				}
				for (l = 1; l in line; l++) {
					n = split(line[l], word, " ")
					for (w = 2; w <= n; w++) if (word[w] in hit) { print word[2]; break }
				}
			}' "$runs/folders" -
}

quick() {
	formatting
	local packages
	packages=$(changed)
	if [ -z "$packages" ]; then
		say "no package has changed"
		return
	fi
	say "vet and short tests: $(echo "$packages" | wc -l) packages that have changed or import one that has"
	go vet $packages
	tests -short $packages
}

# The core is measured by its own tests. The tests of the other packages would have to compile everything again for it.
# The part deployed tests the zips.
unit() {
	formatting

	say "vet and lint: golangci-lint $lint_version"
	[ -x "$lint" ] || GOBIN=$(dirname "$lint") go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$lint_version"
	"$lint" run ./...

	say "all tests, and the coverage of the core"
	[ "${CI:-}" != true ] || scripts/tools/proxies.sh >/dev/null 2>&1 || echo "proxies" >>"$runs/left_out"
	local measured packages profile=$runs/profile total
	measured=$(for p in $core; do echo "./shared/$p/..."; done)
	measured=$(go list $measured)
	packages=$(for p in $core; do printf './shared/%s,' "$p"; done)
	tests -coverpkg="${packages%,}" -coverprofile="$profile" $measured
	tests $(go list ./... | grep -vxF "$measured" | grep -v /lambdazip$)
	total=$(go tool cover -func="$profile" | awk '/^total:/ { sub("%", "", $3); print $3 }')
	echo "core coverage: $total % (floor $core_floor %)"
	awk -v t="$total" -v f="$core_floor" 'BEGIN { exit !(t >= f) }' || { echo "core coverage is below $core_floor %" >&2; exit 1; }
}

# Only packages whose code runs in several goroutines at the same time and whose tests need no large library: the libraries
# of AWS, DuckDB and OpenAPI take minutes to compile for the race detector. release.sh runs every test with it.
race() {
	say "tests with the race detector, generated cases fewer"
	local detect=(go test -race -short -timeout 30m)
	"${detect[@]}" ./shared/api/{access,answering,representation} ./shared/client ./shared/engine/{rows,trino} ./shared/ingest \
		./shared/ingest/datadir/{ledgersqlite,manifest} ./shared/keys ./shared/lake ./shared/lakestate/lists ./shared/report/delivery \
		./shared/search ./shared/document ./shared/sqlitefile ./shared/table/tabletest ./scripts/internal/runtimeapi \
		-skip 'Damage|Differential|EarlierVersion|FewRows|LargeLogsCancel|Mutations|Versions'
	# Of these, only tests in which several goroutines share something: the others take minutes.
	"${detect[@]}" ./shared/engine/scan ./shared/ingest/datadir \
		-run 'AnyCompression|Callers|Cancel|CompleteThrough|Concurrent|Crews|During|Early|EveryObject|Footers|Grown|Huge|Interleaving|Interrupted|Parts|Replaced|SameTime|Shared|Spare|While|Workers'
}

# build_command builds the command and its tests for the parts that use them: linking either takes seconds.
build_command() {
	say "the command and its tests"
	go build -ldflags='-s -w' -o "$runs/built/orrery" ./scripts/orrery
	go test -c -ldflags='-s -w' -o "$runs/built/orrery.test" ./scripts/orrery
	export ORRERY_TEST_PROGRAM=$runs/built/orrery
}

# test_command NAME FLAG…: runs tests of the command.
test_command() {
	local names=$1 began=$SECONDS
	shift
	(cd scripts/orrery && "$runs/built/orrery.test" -test.timeout 40m -test.run "$names" "$@")
	echo "ok  	scripts/orrery $names	$((SECONDS - began))s"
}

# browser shows each screen in a few of the themes and widths; release.sh shows it in all. Walks wait much of the time, so one
# more runs at once than there are processors.
browser() {
	ORRERY_TEST_CONSOLE=1 ORRERY_CHROMIUM=$chromium go test -count=1 -short -parallel $(($(getconf _NPROCESSORS_ONLN) + 1)) -timeout 40m ./scripts/console
	ORRERY_TEST_CONSOLE=1 ORRERY_CHROMIUM=$chromium go test -count=1 -short -timeout 5m ./shared/report -run 'Browser|Pages|Readme'
}

# start_browser starts the checks in a browser. They wait much of the time, so other checks run beside them.
start_browser() {
	if chromium=$(scripts/tools/chromium.sh); then
		start_beside browser
	else
		without "console in a browser" $? || true
	fi
}

finish_browser() {
	if [ -f "$runs/browser.pid" ]; then
		say "console: pure modules and every screen in a browser; reports and their mails"
		finish browser
	fi
}

types() {
	say "console: types"
	local tsc
	if tsc=$(scripts/tools/tsc.sh); then
		ORRERY_TSC=$tsc go test -count=1 ./scripts/console -run TestTypes
	else
		without "types of the console" $? || true
	fi
}

document() {
	say "API: every route against its OpenAPI document"
	local schemathesis
	if schemathesis=$(scripts/tools/schemathesis.sh); then
		ORRERY_SCHEMATHESIS=$schemathesis test_command TestSchemathesis -test.v
	else
		without "schemathesis" $? || true
	fi
}

zips() {
	say "functions: some of the zips, twice with the same bytes"
	ORRERY_TEST_BUILD=1 go test -count=1 ./scripts/internal/lambdazip
}

templates() {
	say "infrastructure: templates, assertions, cdk-nag"
	if command -v node >/dev/null 2>&1; then
		ORRERY_TEST_CDK=1 go test -count=1 ./infra
	else
		echo "check.sh: node is missing. Install node 20 or later from your system's packages or nodejs.org." >&2
		without "infrastructure" 3 || true
	fi
}

# with_dynamodb uses the DynamoDB Local at $dynamodb, if it runs.
with_dynamodb() {
	[ -n "$dynamodb" ] || return 0
	export ORRERY_TEST_DYNAMODB=$dynamodb
	go test -p 1 ./shared/table/...
	# Its other tests do not use the server.
	go test -short ./shared/ingest/cloud -run 'AtEveryRequest|DelayedRequest|UnderFaults|UnreliableNetwork|UseTheirGrants'
	go test ./infra -run TestGrantsCoverStoreActions
	go test ./functions/internal/wire -run TestReportKilledAtEveryStep
	test_command TestKeysOfADeployment
	unset ORRERY_TEST_DYNAMODB
	stop dynamodb
}

# with_localstack uses the LocalStack at $localstack, if it runs.
with_localstack() {
	[ -n "$localstack" ] || return 0
	ORRERY_TEST_LOCALSTACK=$localstack go test ./shared/blob/s3 ./shared/report/delivery/deliveryaws ./scripts/internal/rawbucket -run LocalStack
	stop localstack
}

# deployment starts servers of its own. Its tests wait much of the time, so other checks run beside them.
deployment() {
	local name
	mkdir -p "$runs/deployed" # where cleanup finds the servers of a test that was interrupted
	for name in TestDeployedUp TestDeployed; do
		TMPDIR=$runs/deployed ORRERY_TEST_DEPLOYED=1 ORRERY_CHROMIUM=$chromium test_command "^$name\$" -test.parallel 3
	done
}

# with_trino asks for a part of what release.sh asks for: a question takes Trino about a second of both processors, most of it
# for planning. Headers and arguments are among the conditions of TestManyGroups.
with_trino() {
	say "Trino: equal answers from every engine, also through Athena's protocol"
	server trino || return 0
	export ORRERY_TEST_TRINO=$url ORRERY_TEST_TRINO_LAKE=$runs/trino/lake
	go test -timeout 20m ./shared/engine/athena -run 'TestDifferentialOverTrino|TestEngineOverTrino|TestColumnsOfAnAttackOverTrino' \
		-skip 'TestEngineOverTrino/(empty_lake|explain|the_end_of_the_context)|TestEngineOverTrino/many_conditions/(header|argument)' \
		-differential.filters=20 -suite.every=200
	go test -timeout 20m -short ./shared/engine/trino -differential.filters=12 -whatif.rules=12 \
		-run 'TestGoldens|TestPartitions|TestBytes|TestManyGroups|TestMostExpressions|TestDamagedObject|TestDifferential$|TestRules$|TestVersions/(stored_objects|objects_of_all_versions)'
	go test -timeout 10m ./shared/pattern -run OnTrino -joni.patterns=800
	go test -timeout 10m ./shared/sqlgen -run OnTrino
	go test ./scripts/servers/athenad -run TestTables
	test_command 'TestServeOverTrino|TestViewOfTrino'
	unset ORRERY_TEST_TRINO ORRERY_TEST_TRINO_LAKE
	stop trino
}

start_dynamodb_and_localstack() {
	dynamodb= localstack=
	if server dynamodb; then dynamodb=$url; fi
	if server localstack; then localstack=$url; fi
}

start_deployment() {
	local code=0
	scripts/servers/localstack.sh fetch || code=$?
	if [ $code -eq 0 ]; then start_beside deployment; else without localstack $code || true; fi
}

finish_deployment() {
	if [ -f "$runs/deployment.pid" ]; then
		say "LocalStack: the whole deployment, orrery up"
		finish deployment
	fi
}

stores() {
	say "DynamoDB: the table, the ledger, keys, runs, and the grants of their functions; LocalStack: object storage"
	with_dynamodb
	with_localstack
}

document_templates_and_stores() {
	document
	templates
	stores
}

chromium=
case $part in
quick) quick ;;
unit) unit ;;
race) race ;;
pages)
	build_command
	start_browser
	types
	document
	finish_browser
	;;
servers)
	build_command
	start_dynamodb_and_localstack
	start_beside stores
	with_trino
	finish stores
	;;
deployed)
	build_command
	zips
	templates
	chromium=$(scripts/tools/chromium.sh) || without "console in a browser" $? || true
	start_deployment
	finish_deployment
	;;
all)
	start_beside downloads
	unit
	race
	zips
	build_command
	start_browser
	finish downloads
	start_deployment
	types
	finish_browser # with little beside it: walks through the console take several times as long on a busy machine
	start_dynamodb_and_localstack
	start_beside document_templates_and_stores
	with_trino
	finish document_templates_and_stores
	finish_deployment
	;;
esac

say "clean tree"
after=$(git status --porcelain)
[ "$before" = "$after" ] || { echo "the checks changed the tree:"; git status --short; exit 1; }
[ ! -f "$runs/left_out" ] || echo "skipped, because this machine lacks a requirement: $(sort -u "$runs/left_out" | paste -sd, -)"
[ $SECONDS -le 2100 ] || echo "check.sh: warning: the checks took more than 35 minutes" >&2
echo "all checks passed ($part)"

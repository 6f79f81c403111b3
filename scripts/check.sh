#!/usr/bin/env bash
# Everything that is checked, the same for people and for CI: formatting, vet, lint, all tests with the race
# detector, the fuzz targets, and the coverage of the core. FUZZ=5s shortens the fuzzing.
set -euo pipefail
cd "$(dirname "$0")/.."

fuzz=${FUZZ:-20s}
lint_version=v2.15.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/orrery
core="filter catalog lake record query sqlgen planet"
core_floor=90

say() { printf '\n== %s\n' "$*"; }

need() { # need COMMAND MEND
	command -v "$1" >/dev/null 2>&1 || { echo "check.sh: $1 is missing. $2" >&2; exit 1; }
}

need git "Install git from your system's packages."
need go "Install Go 1.26 or later from your system's packages or from go.dev/dl."
need "${CC:-gcc}" "DuckDB is linked through cgo: install a C compiler (Debian: apt-get install gcc g++; macOS: xcode-select --install)."

before=$(git status --porcelain)

say "formatting and vet"
unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
[ -z "$unformatted" ] || { echo "not formatted (run gofmt -w):"; echo "$unformatted"; exit 1; }
go vet ./...

say "golangci-lint $lint_version"
lint=$cache/golangci-lint-$lint_version/golangci-lint
if [ ! -x "$lint" ]; then
	echo "building it once, into $cache"
	GOBIN=$(dirname "$lint") go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$lint_version"
fi
"$lint" run ./...

say "tests with the race detector"
go test -race -timeout 30m ./...

say "coverage of the core"
packages=$(for p in $core; do printf './shared/%s,' "$p"; done)
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
go test -coverpkg="${packages%,}" -coverprofile="$profile" ./shared/... >/dev/null
total=$(go tool cover -func="$profile" | awk '/^total:/ { sub("%", "", $3); print $3 }')
echo "core coverage: $total % (floor $core_floor %)"
awk -v t="$total" -v f="$core_floor" 'BEGIN { exit !(t >= f) }' || { echo "core coverage is below $core_floor %" >&2; exit 1; }

say "fuzzing, $fuzz each"
git ls-files '*_test.go' | xargs grep -lE '^func Fuzz' | xargs -n1 dirname | sort -u | while read -r folder; do
	for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$folder"/*_test.go | sed 's/^func //'); do
		go test -run='^$' -fuzz="^$target\$" -fuzztime="$fuzz" -fuzzminimizetime=1s "./$folder" </dev/null
	done
done

say "clean tree"
after=$(git status --porcelain)
[ "$before" = "$after" ] || { echo "the checks changed the tree:"; git status --short; exit 1; }
echo "all checks passed"

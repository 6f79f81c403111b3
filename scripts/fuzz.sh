#!/usr/bin/env bash
# Random fuzzing, the step before a release: every fuzz target for TIME (20s unless given), two at a time. Without a
# TARGET, the property tests draw 10,000 new cases each first.
#
#   scripts/fuzz.sh [TIME [TARGET]]     e.g. scripts/fuzz.sh 5m, or scripts/fuzz.sh 1h FuzzConvert
#
# An input that fails is printed and left in testdata/fuzz of its package: commit it there with the fix, as a seed.
# check.sh and every `go test` run the seeds alone, so that they give the same result each time.
set -euo pipefail
cd "$(dirname "$0")/.."

fuzz=${1:-20s}
[[ $fuzz =~ ^[0-9]+[smh]$ ]] || { echo "fuzz.sh: $fuzz is not a time; write 20s, 5m or 1h" >&2; exit 2; }
targets=$(git ls-files '*_test.go' | xargs grep -oHE "^func ${2:-Fuzz[A-Za-z0-9_]*}\(" | sed -E 's#/[^/]*:func # #; s#\($##' | sort -u) || true
[ -n "$targets" ] || { echo "fuzz.sh: there is no fuzz target $2" >&2; exit 2; }
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
trap 'exit 130' INT TERM HUP

# fuzz_one FOLDER TARGET: fails with the failing input printed. Up to Go 1.26 a run can also fail at its very end with
# "context deadline exceeded" and no input (go.dev/issue/75804): such a run found nothing.
fuzz_one() {
	local log=$runs/${1//\//-}-$2
	if go test -vet=off -run='^$' -fuzz="^$2\$" -fuzztime="$fuzz" -fuzzminimizetime=1s -parallel=1 "./$1" </dev/null >"$log" 2>&1; then
		tail -n 1 "$log" | sed "s/\t[^\t]*$/ $2&/"
	elif grep -qx '    context deadline exceeded' "$log" && ! grep -q 'Failing input written' "$log"; then
		echo "ok  	$1 $2: nothing found"
	else
		cat "$log"
		git ls-files --others "$1/testdata/fuzz/$2" | while read -r input; do echo "$input:"; cat "$input"; done
		return 1
	fi
}

if [ $# -lt 2 ]; then
	properties=$(git ls-files '*_test.go' | xargs grep -l '"pgregory.net/rapid"' | xargs grep -l 'rapid\.Check(' | xargs -n 1 dirname | sort -u | sed 's#^#./#')
	RAPID_CHECKS=10000 go test -count=1 -vet=off $properties
fi
export fuzz runs
export -f fuzz_one
xargs -P 2 -L 1 bash -c 'fuzz_one "$@"' _ <<<"$targets"

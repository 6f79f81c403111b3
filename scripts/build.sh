#!/usr/bin/env bash
# Builds the AWS Lambda functions: .build/<architecture>/<function>.zip. The same source gives the same bytes, so functions
# whose source has not changed are not built again.
#
#   scripts/build.sh                      every function, for arm64 and amd64
#   scripts/build.sh --arch arm64 topx    one function, for one architecture
#   scripts/build.sh --out DIR            into another folder
set -euo pipefail
cd "$(dirname "$0")/.."

out=.build
architectures=()
functions=()
while [ $# -gt 0 ]; do
	case $1 in
	--arch) architectures+=("${2:?--arch needs arm64 or amd64}"); shift 2 ;;
	--out) out=${2:?--out needs a folder}; shift 2 ;;
	-*) echo "build.sh: unknown option $1; use --arch or --out" >&2; exit 2 ;;
	*) functions+=("$1"); shift ;;
	esac
done
[ ${#architectures[@]} -gt 0 ] || architectures=(arm64 amd64)
command -v go >/dev/null 2>&1 || { echo "build.sh: go is missing. Install Go 1.26 or later from your system's packages or from go.dev/dl." >&2; exit 1; }

[ ${#functions[@]} -gt 0 ] || for main in functions/*/main.go; do functions+=("$(basename "$(dirname "$main")")"); done
for f in "${functions[@]}"; do
	[ -f "functions/$f/main.go" ] || { echo "build.sh: unknown function $f; functions/ lists them" >&2; exit 2; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Fixed, so that the caller's environment does not change the bytes.
export CGO_ENABLED=0 GOOS=linux GOFLAGS= GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT=
# scripts/check.sh builds tests with the same options, so that packages are compiled once for both.
flags=(-trimpath -buildvcs=false -tags lambda.norpc,netgo,osusergo)
# Bytes of a program, because Lambda reads the whole program before its first answer. Templates of HTML need reflection,
# for which the linker keeps more.
most=(22000000 report=33500000 report-now=33500000 older=33500000)
packages=("${functions[@]/#/./functions/}")

# inputs prints the content of all that the zips are made of: this script, and each package by its build ID.
inputs() { # inputs ARCHITECTURE
	cat scripts/build.sh
	GOARCH=$1 go list "${flags[@]}" -export -deps -f '{{.ImportPath}} {{.BuildID}}' "${packages[@]}" ./scripts/internal/lambdazip
}

for arch in "${architectures[@]}"; do
	echo "== $arch"
	inputs "$arch" >"$work/inputs"
	zips=("${functions[@]/#/$out/$arch/}")
	zips=("${zips[@]/%/.zip}")
	made=$out/$arch/made # the inputs, and the checksums of the zips that were made of them
	if (cat "$work/inputs" && cksum "${zips[@]}") 2>/dev/null | cmp -s - "$made"; then
		echo "unchanged"
		continue
	fi
	rm -f "$made"
	[ -x "$work/lambdazip" ] || go build -o "$work/lambdazip" ./scripts/internal/lambdazip
	mkdir "$work/$arch"
	GOARCH=$arch go build "${flags[@]}" -ldflags '-s -w -buildid=' -o "$work/$arch/" "${packages[@]}"
	"$work/lambdazip" "$work/$arch" "$out/$arch" "${most[@]}"
	(cat "$work/inputs" && cksum "${zips[@]}") >"$made.$$"
	mv "$made.$$" "$made"
done

#!/usr/bin/env bash
# Prints the path of TypeScript's native compiler, which it installs once into a cache. npm is needed to install it;
# it runs without Node. Exit code 3: npm is missing.
set -euo pipefail

version=7.0.2
cache=${XDG_CACHE_HOME:-$HOME/.cache}/orrery/typescript-$version

compiler() { find "$1/node_modules/@typescript" -path '*/lib/tsc' -type f 2>/dev/null | head -1; }

if [ ! -d "$cache" ]; then
	command -v npm >/dev/null 2>&1 || { echo "tsc.sh: npm is missing: install it (Debian: apt-get install npm)" >&2; exit 3; }
	mkdir -p "$(dirname "$cache")"
	part=$(mktemp -d "$cache.part.XXXXXX")
	trap 'rm -rf "$part"' EXIT
	npm install --prefix "$part" --no-save --no-audit --no-fund --ignore-scripts "typescript@$version" >&2
	[ -n "$(compiler "$part")" ] || { echo "tsc.sh: typescript@$version has no compiler for this machine" >&2; exit 3; }
	[ -d "$cache" ] || mv "$part" "$cache" # another start may have been quicker
fi
compiler "$cache"

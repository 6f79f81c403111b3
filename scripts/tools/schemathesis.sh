#!/usr/bin/env bash
# Prints the path of Schemathesis, which it installs once into a cache, with the versions of schemathesis.txt. As root on
# Debian it installs the module venv of Python if that is missing. Exit code 3: there is no Python 3.10 or later with venv.
set -euo pipefail

packages=$(cd "$(dirname "$0")" && pwd)/schemathesis.txt
cache=${XDG_CACHE_HOME:-$HOME/.cache}/orrery/schemathesis-$(cksum <"$packages" | cut -d' ' -f1)

# python prints a Python with what is needed.
python() {
	local candidate
	for candidate in python3 "${PYTHON313:-}" "$HOME"/.pyenv/versions/3.1[0-9]*/bin/python3 python3.1{3,2,1,0}; do
		[ -n "$candidate" ] && "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue
		echo "$candidate"
		return
	done
	return 1
}

if [ ! -x "$cache/bin/schemathesis" ]; then
	if ! found=$(python) && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends python3-venv; } >&2 || true
		found=$(python) || true
	fi
	[ -n "$found" ] || {
		echo "schemathesis.sh: Python 3.10 or its module venv is missing: install it (Debian: apt-get install python3-venv)" >&2
		exit 3
	}
	rm -rf "$cache" # of an installation that was interrupted; its programs name this folder, so it cannot be moved here later
	"$found" -m venv "$cache"
	"$cache/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: --requirement "$packages" >&2 || {
		rm -rf "$cache"
		exit 1
	}
fi
echo "$cache/bin/schemathesis"

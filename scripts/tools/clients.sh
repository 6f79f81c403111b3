#!/usr/bin/env bash
# Prints the folder of the generators of clients, which it installs once into a cache: openapi-generator.jar, bin/ of Python,
# oapi-codegen and node_modules/. Exit code 3: Java 11 or later with a compiler, Maven, npm, or Python 3.10 or later with
# venv is missing.
set -euo pipefail

openapi_generator=7.17.0
openapi_generator_sha256=25d6bd8273dd2be99979d544b62ea43f0ce1975f1aa582678b5093d1e7fcfce8
oapi_codegen=v2.8.2
npm_packages=(openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3 @types/node@20.19.25)

packages=$(cd "$(dirname "$0")" && pwd)/clients.txt # of Python
cache=${XDG_CACHE_HOME:-$HOME/.cache}/orrery/clients-$(cat "$0" "$packages" | cksum | cut -d' ' -f1)

if [ ! -e "$cache/installed" ]; then
	for program in javac mvn npm python3 curl; do
		command -v "$program" >/dev/null 2>&1 || { echo "clients.sh: $program is missing: install it" >&2; exit 3; }
	done
	python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || {
		echo "clients.sh: Python 3.10 or its module venv is missing: install it (Debian: apt-get install python3-venv)" >&2
		exit 3
	}
	rm -rf "$cache" # of an installation that was interrupted; its programs name this folder, so it cannot be moved here later
	python3 -m venv "$cache"
	"$cache/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: --requirement "$packages" >&2
	npm install --prefix "$cache" --no-save --no-audit --no-fund --ignore-scripts "${npm_packages[@]}" >&2
	GOBIN=$cache go install "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@$oapi_codegen" >&2
	name=openapi-generator-cli
	curl -sSfo "$cache/openapi-generator.jar" \
		"https://repo1.maven.org/maven2/org/openapitools/$name/$openapi_generator/$name-$openapi_generator.jar"
	echo "$openapi_generator_sha256  $cache/openapi-generator.jar" | sha256sum --check --quiet >&2
	touch "$cache/installed"
fi
echo "$cache"

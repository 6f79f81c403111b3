#!/usr/bin/env bash
# Makes the files of a release in dist/VERSION: archives of the command, Debian and RPM packages, a container image, the
# deployment on AWS, lists of the modules in each program, and checksums. The same source gives the same bytes.
# scripts/README.md describes the files.
#
#   scripts/package.sh 1.2.3                           everything, for all platforms
#   scripts/package.sh 1.2.3 --platform linux/amd64    for one platform, without AWS; repeat the flag for more
#   scripts/package.sh 1.2.3 --out DIR                 into another folder, which must be empty or new
set -euo pipefail
cd "$(dirname "$0")/.."
command -v go >/dev/null 2>&1 || { echo "package.sh: go is missing. Install Go 1.26 or later from your system's packages or from go.dev/dl." >&2; exit 1; }
exec go run ./scripts/internal/packaging "$@"

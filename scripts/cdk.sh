#!/usr/bin/env bash
# The CDK toolkit at the version this project deploys with, downloaded once into a cache: scripts/cdk.sh deploy --all
# One stack is deployed with -e. Without it, the toolkit deploys those that it depends on, too, and rolling back fails.
# Before the first deployment to an account, and before one with other properties, "scripts/cdk.sh preflight" with the
# properties compares the deployment with the limits of the account and with the records that are stored. Each "deploy"
# does the latter itself, and is refused if it would hide stored records; --no-preflight deploys without that. It
# imports the logs that a deleted stack has left.
# Exit code 3: this machine lacks a requirement; standard error has the remedy.
set -euo pipefail
version=2.1148.1
folder=${XDG_CACHE_HOME:-$HOME/.cache}/orrery/cdk-$version

missing() { echo "cdk.sh: $*" >&2; exit 3; }

# check COMMAND ARGUMENT… compares the deployment that the arguments describe with its account.
check() { (cd "$(dirname "$0")/.." && exec go run ./infra "$@"); }

if [ "${1:-}" = preflight ]; then
	check "$@"
	exit
fi

deploy=no preflight=yes
for argument in "$@"; do
	shift
	case $argument in
	deploy) deploy=yes ;;
	-h | --help) preflight=no ;;
	--no-preflight)
		preflight=no
		continue # the toolkit does not know it
		;;
	esac
	set -- "$@" "$argument"
done

command -v node >/dev/null 2>&1 || missing "node is missing. Install node 20 or later from your system's packages or nodejs.org."
if [ ! -d "$folder" ]; then
	command -v npm >/dev/null 2>&1 || missing "npm is missing; it comes with node from nodejs.org, or as a package of your system."
	mkdir -p "$(dirname "$folder")"
	making=$(mktemp -d "$folder.XXXXXX") # renamed when it is complete
	trap 'rm -rf "$making"' EXIT
	npm install --prefix "$making" --no-audit --no-fund --loglevel=error "aws-cdk@$version" >&2
	[ -d "$folder" ] || mv "$making" "$folder" # another run may have been faster
fi
if [ $deploy = yes ] && [ $preflight = yes ] && ! check predeploy "$@" >&2; then
	echo "cdk.sh: nothing was deployed; --no-preflight deploys without this check" >&2
	exit 1
fi
[ $deploy = no ] || set -- "$@" --import-existing-resources
export CDK_DISABLE_CLI_TELEMETRY=1
exec "$folder/node_modules/.bin/cdk" --no-notices "$@"

#!/usr/bin/env bash
# LocalStack 4.14.0 (S3, DynamoDB, SQS, API Gateway, Lambda, CloudFormation, EventBridge …) as a plain process:
# no Docker, no account, nothing sent anywhere. Lambda functions run as processes of this machine.
#
#   localstack.sh start DIR   prints its URL, e.g. http://127.0.0.1:41873
#   localstack.sh stop DIR
#   localstack.sh fetch       downloads it, for a start that has nothing to wait for
#
# DIR keeps everything of one run: pid, url, localstack.log, functions/ (see localstack/plugin/orrery_localstack.py).
# A later run may use it again; the logs of functions grow. With ORRERY_STATE=FOLDER, it goes on with the objects, tables
# and messages that earlier runs kept there, if it has the same stacks (see localstack/plugin/orrery_state.py).
# Python packages and DynamoDB Local (115 MB) are downloaded once, into ${XDG_CACHE_HOME:-~/.cache}/orrery.
# Exit code 3: something is missing on this machine; standard error says what to do.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
version=4.14.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/orrery

say() { printf 'localstack.sh: %s\n' "$*" >&2; }
missing() { say "$*"; exit 3; }
usage() { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }

# LocalStack 4.14.0 needs exactly 3.13. A pyenv shim of that name may exist and not run, so each is tried.
python() {
	local candidate
	for candidate in "${PYTHON313:-}" "$HOME"/.pyenv/versions/3.13*/bin/python3.13 python3.13; do
		if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null; then
			echo "$candidate"
			return
		fi
	done
	missing "Python 3.13 is missing. Install it (pyenv install 3.13, uv python install 3.13, or your system's package), or name it in PYTHON313."
}

# packages prints the folder of LocalStack's Python environment, made on first use. It is finished elsewhere and
# then renamed: a half download is never taken for a whole one.
packages() {
	local pins folder making
	pins=$(cksum <"$here/localstack/requirements.txt" | cut -d' ' -f1)
	folder=$cache/localstack-$version-$pins
	if [ ! -d "$folder" ]; then
		say "downloading LocalStack $version into $folder, once"
		mkdir -p "$cache"
		making=$(mktemp -d "$folder.XXXXXX")
		trap "rm -rf '$making'" EXIT
		"$(python)" -m venv "$making" >&2
		"$making/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$here/localstack/requirements.txt" >&2
		[ -d "$folder" ] || mv "$making" "$folder" # another start may have been quicker
	fi
	echo "$folder"
}

# filesystem lays out what LocalStack expects to have installed itself: DynamoDB Local, and a Java to run it.
filesystem() { # filesystem DIR
	local lib=$1/fs/var/lib/localstack/lib jars
	jars=$("$here/dynamodb.sh" jars)
	mkdir -p "$lib/dynamodb-local/2" "$lib/java/21/bin"
	ln -sfn "$jars" "$lib/dynamodb-local/2/DynamoDBLocal_lib"
	ln -sf "$(ls "$jars"/DynamoDBLocal-*.jar)" "$lib/dynamodb-local/2/DynamoDBLocal.jar"
	cp "$here/localstack/java.sh" "$lib/java/21/bin/java"
}

# free_port prints the port of the last run if it is free, and another one otherwise.
free_port() { # free_port HOME PORT
	"$1/bin/python" - "${2:-0}" <<-'PYTHON'
		import socket, sys
		for port in (int(sys.argv[1]), 0):
		    with socket.socket() as s:
		        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		        try:
		            s.bind(("127.0.0.1", port))
		        except OSError:
		            continue
		        print(s.getsockname()[1])
		        break
	PYTHON
}

start() {
	local dir=$1 home port url settings pid
	mkdir -p "$dir/tmp" "$dir/functions"
	dir=$(cd "$dir" && pwd)
	[ ! -e "$dir/pid" ] || { say "one was already started in $dir: stop it first"; exit 1; }
	rm -f "$dir"/functions/*.pid "$dir/functions/env" # of the last run
	home=$(packages)
	filesystem "$dir"
	port=$(free_port "$home" "$(sed 's/.*://' "$dir/url" 2>/dev/null || true)")
	url=http://127.0.0.1:$port

	settings=(
		OVERRIDE_IN_DOCKER=0 FILESYSTEM_ROOT="$dir/fs" TMPDIR="$dir/tmp" # all files under DIR, even inside a container
		GATEWAY_LISTEN="127.0.0.1:$port" LOCALSTACK_HOST="127.0.0.1:$port" SQS_ENDPOINT_STRATEGY=path # addresses that need no DNS
		DISABLE_EVENTS=1 SKIP_SSL_CERT_DOWNLOAD=1 DNS_ADDRESS=0 API_ENDPOINT=http://127.0.0.1:9/v1 DDB_LOCAL_TELEMETRY=0 # no calls to other machines
		PYTHONPATH="$here/localstack/plugin" PYTHONDONTWRITEBYTECODE=1 LAMBDA_RUNTIME_EXECUTOR=process ORRERY_FUNCTIONS="$dir/functions"
		LAMBDA_EVENT_SOURCE_MAPPING_MAX_BACKOFF_ON_EMPTY_POLL_SEC=1 # else a message waits up to 10 s
		DYNAMODB_IN_MEMORY=1 ORRERY_STATE="${ORRERY_STATE:-}" ORRERY_JAVA="$(command -v java)"
		PROVIDER_OVERRIDE_DYNAMODB=v2 PROVIDER_OVERRIDE_DYNAMODBSTREAMS=v2 # the other provider downloads from npm
		CFN_IGNORE_UNSUPPORTED_RESOURCE_TYPES=1 # 0 asks LocalStack's vendor, and refuses even roles without an answer
		LS_LOG="${LS_LOG:-warning}"
	)
	# A session of its own, so that stop reaches LocalStack and the functions together. Before it begins, pid is written:
	# a start that is killed from then on can be stopped. The caller's AWS settings stay out: LocalStack's own clients
	# would follow them.
	echo "$url" >"$dir/url"
	(cd "$dir" && exec sh -c 'echo $$ >pid && exec "$@"' sh env -u AWS_ENDPOINT_URL -u AWS_PROFILE -u AWS_REGION -u AWS_DEFAULT_REGION "${settings[@]}" \
		"$home/bin/python" -c 'import os, sys; os.setsid(); os.execv(sys.executable, [sys.executable, "-m", "localstack.runtime.main"])' \
		>"$dir/localstack.log" 2>&1 </dev/null) &
	pid=$!

	for _ in $(seq 1200); do
		if curl -sf -m 2 -o /dev/null "$url/_localstack/health"; then
			echo "$url"
			return
		fi
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	say "LocalStack did not start; the end of $dir/localstack.log:"
	tail -20 "$dir/localstack.log" >&2
	stop "$dir"
	exit 1
}

# ours succeeds if the process is a LocalStack: the system may have given its number to another since.
ours() { ps -p "$1" -o args= 2>/dev/null | grep -qF localstack.runtime.main; }

# others prints the processes of a run beside LocalStack: DynamoDB Local, in a process group of its own, and functions.
others() { # others DIR
	ps -ww -A -o pid= -o args= | dir=$1 awk '
		index($0, "-Djava.library.path=" ENVIRON["dir"] "/fs/") || index($2, ENVIRON["dir"] "/tmp/") == 1 { print $1 }'
}

stop() {
	local dir pid other
	[ -f "$1/pid" ] || return 0
	dir=$(cd "$1" && pwd)
	pid=$(cat "$dir/pid")
	if ours "$pid"; then
		kill "$pid" 2>/dev/null || true
		for _ in $(seq 100); do
			ours "$pid" || kill -0 "-$pid" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL "$pid" "-$pid" 2>/dev/null || true # what did not end by itself
	fi
	for other in $(others "$dir"); do
		kill -KILL "$other" 2>/dev/null || true
	done
	rm -rf "$dir/pid" "$dir/tmp" "$dir/fs"
}

case "${1:-} $#" in
"start 2")
	command -v curl >/dev/null || missing "curl is missing. Install it from your system's packages."
	command -v java >/dev/null || missing "Java is missing: DynamoDB Local needs 17 or later. Install a JDK from your system's packages."
	start "$2"
	;;
"stop 2") stop "$2" ;;
"fetch 1")
	(packages) >/dev/null
	"$here/dynamodb.sh" jars >/dev/null
	;;
*) usage ;;
esac

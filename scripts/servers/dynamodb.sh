#!/usr/bin/env bash
# DynamoDB Local (AWS's own emulator, in memory) on a free port. It cannot be told to listen on one address only.
#
#   dynamodb.sh start DIR   prints its URL; DIR holds the run: pid, port, log
#   dynamodb.sh stop DIR    ends it and waits until it has gone
#   dynamodb.sh jars        prints the folder of its jars, for whoever starts it otherwise
#
# The jars come from Maven Central, once, into a cache. Their licence is AWS's own, so they are no part of this
# repository. Exit code 3: something that must be installed first is missing.
set -euo pipefail

version=3.1.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/orrery/dynamodb-$version
main=software.amazon.dynamodb.services.local.main.ServerRunner

say() { echo "dynamodb.sh: $*" >&2; }

missing() { say "$@"; exit 3; }

# java_home prints the home of a Java of at least 17.
java_home() {
	local java candidates=() major
	[ -z "${JAVA_HOME:-}" ] || candidates+=("$JAVA_HOME/bin/java")
	java=$(command -v java || true)
	[ -z "$java" ] || candidates+=("$java")
	candidates+=(/usr/lib/jvm/*/bin/java "$HOME"/.sdkman/candidates/java/*/bin/java /Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java)
	for java in "${candidates[@]}"; do
		[ -x "$java" ] || continue
		major=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.specification\.version = \([0-9]*\).*/\1/p')
		[ "${major:-0}" -ge 17 ] || continue
		"$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p'
		return
	done
	missing "DynamoDB Local needs Java 17 or later: install a JDK (Debian: apt-get install openjdk-17-jdk-headless) or set JAVA_HOME"
}

# fetch downloads the jars beside the cache and moves them there as a whole, so that half a download is never used.
fetch() {
	[ ! -d "$cache/lib" ] || return 0
	command -v mvn >/dev/null 2>&1 || missing "Maven fetches DynamoDB Local and is missing: install it (Debian: apt-get install maven)"
	local part
	mkdir -p "$(dirname "$cache")"
	part=$(mktemp -d "$cache.part.XXXXXX")
	trap "rm -rf '$part'" EXIT
	cat >"$part/pom.xml" <<-POM
		<project>
		  <modelVersion>4.0.0</modelVersion>
		  <groupId>local</groupId><artifactId>dynamodb-local</artifactId><version>1</version>
		  <dependencies>
		    <dependency>
		      <groupId>software.amazon.dynamodb</groupId><artifactId>DynamoDBLocal</artifactId><version>$version</version>
		    </dependency>
		  </dependencies>
		</project>
	POM
	say "fetching DynamoDB Local $version, about 48 MB, into $cache"
	if ! JAVA_HOME=$1 mvn -q -B -f "$part/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$part/lib" >&2; then
		say "Maven could not fetch it; its reason stands above"
		exit 1
	fi
	mkdir -p "$cache"
	[ -d "$cache/lib" ] || mv "$part/lib" "$cache/lib"
	rm -rf "$cache/lib/lib" # another run was first by a moment
}

# answers tells whether DynamoDB on that port lists its tables.
answers() {
	curl -sf -m 5 -o /dev/null "http://127.0.0.1:$1/" -d '{}' \
		-H 'Content-Type: application/x-amz-json-1.0' -H 'X-Amz-Target: DynamoDB_20120810.ListTables' \
		-H 'Authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0'
}

# in_use tells whether something listens on that port.
in_use() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# runs tells whether a process is one of ours: the number may have been given away since.
runs() { ps -p "$1" -o args= 2>/dev/null | grep -qF "$main"; }

start() {
	local dir=$1 home port pid tool
	for tool in curl ps; do
		command -v "$tool" >/dev/null 2>&1 || missing "$tool is missing: install it from your system's packages (Debian: curl, procps)"
	done
	home=$(java_home)
	fetch "$home"
	mkdir -p "$dir"
	if [ -f "$dir/pid" ] && runs "$(cat "$dir/pid")"; then
		say "$dir holds a run already; stop it first: $0 stop $dir"
		exit 1
	fi
	for _ in 1 2 3 4 5; do # a port that was free may be taken before it is ours: then another one
		port=$((20000 + RANDOM % 10000))
		! in_use "$port" || continue
		# Without AWS_ENDPOINT_URL: its telemetry, were it on, would go there.
		env -u AWS_ENDPOINT_URL DDB_LOCAL_TELEMETRY=0 \
			nohup "$home/bin/java" -Xmx512m -Djava.library.path="$cache/lib" -cp "$cache/lib/*" "$main" -port "$port" -inMemory \
			</dev/null >"$dir/log" 2>&1 &
		pid=$!
		echo "$pid" >"$dir/pid"
		echo "$port" >"$dir/port"
		for _ in $(seq 600); do
			if ! kill -0 "$pid" 2>/dev/null; then
				break
			fi
			if answers "$port"; then
				echo "http://127.0.0.1:$port"
				return
			fi
			sleep 0.1
		done
		stop "$dir"
		grep -qi 'address already in use' "$dir/log" || break
	done
	say "it did not start; the end of $dir/log:"
	tail -n 20 "$dir/log" >&2
	exit 1
}

stop() {
	local dir=$1 pid
	[ -f "$dir/pid" ] || return 0
	pid=$(cat "$dir/pid")
	if runs "$pid"; then
		kill "$pid" 2>/dev/null || true
		for _ in $(seq 100); do
			runs "$pid" || break
			sleep 0.1
		done
		! runs "$pid" || kill -9 "$pid" 2>/dev/null || true
	fi
	rm -f "$dir/pid" "$dir/port"
}

case "${1:-} $#" in
"start 2") start "$2" ;;
"stop 2") stop "$2" ;;
"jars 1")
	home=$(java_home)
	fetch "$home"
	echo "$cache/lib"
	;;
*)
	sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac

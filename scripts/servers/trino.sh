#!/usr/bin/env bash
# Trino 476, the engine that Athena is built on, as one process on a free loopback port.
#
#   trino.sh start DIR   prints its URL; DIR/lake is served as local:///
#   trino.sh stop DIR    ends it and waits until it has gone
#   trino.sh fetch       downloads it, for a start that has nothing to wait for
#
# DIR keeps everything of one run: pid, port, log, etc/, var/, tmp/, lake/. The one catalogue is called awsdatacatalog, so
# that Athena's names work, and keeps its tables in DIR/lake/metastore. With TRINO_S3_ENDPOINT, TRINO_S3_KEY and
# TRINO_S3_SECRET in the environment its tables may be in s3:// there, too. TRINO_XMX is the Java heap (1G, at least 700M).
# 453 MB come from Maven Central, once, into a cache. Exit code 3: something that must be installed first is missing.
set -euo pipefail

version=476 # the last one on Maven Central
cache=${XDG_CACHE_HOME:-$HOME/.cache}/orrery/trino-$version
catalog=awsdatacatalog
main=io.trino.server.TrinoServer
oldest_java=24

say() { echo "trino.sh: $*" >&2; }

missing() { say "$@"; exit 3; }

# property prints a system property of a Java.
property() { "$1" -XshowSettings:properties -version 2>&1 | sed -n "s/^ *$2 = //p"; }

# java_home prints the home of a Java that is new enough.
java_home() {
	local java candidates=() release
	[ -z "${JAVA_HOME:-}" ] || candidates+=("$JAVA_HOME/bin/java")
	java=$(command -v java || true)
	[ -z "$java" ] || candidates+=("$java")
	candidates+=(/usr/lib/jvm/*/bin/java "$HOME"/.sdkman/candidates/java/*/bin/java /Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java)
	for java in "${candidates[@]}"; do
		[ -x "$java" ] || continue
		release=$(property "$java" java.specification.version)
		[[ $release =~ ^[0-9]+$ ]] && [ "$release" -ge "$oldest_java" ] || continue
		property "$java" java.home
		return
	done
	missing "Trino needs Java $oldest_java or later: install a JDK (Temurin 25 from adoptium.net will do) or set JAVA_HOME"
}

# fetch unpacks what is needed of the server and its Hive plugin beside the cache and moves it there as a whole, so
# that half a download is never taken for a whole one.
fetch() { # fetch JAVA_HOME
	[ ! -d "$cache" ] || return 0
	command -v mvn >/dev/null 2>&1 || missing "Maven fetches Trino and is missing: install it (Debian: apt-get install maven)"
	local part
	mkdir -p "$(dirname "$cache")"
	part=$(mktemp -d "$cache.part.XXXXXX")
	trap "rm -rf '$part'" EXIT
	say "fetching Trino $version, 453 MB, into $cache"
	if ! (copy "$1" trino-server-core tar.gz "$part" && copy "$1" trino-hive zip "$part" && unpack "$1" "$part") >&2; then
		say "it could not be fetched; the reason stands above"
		exit 1
	fi
	[ -d "$cache" ] || mv "$part/trino" "$cache" # another start may have been quicker
}

copy() { # copy JAVA_HOME ARTIFACT KIND FOLDER
	JAVA_HOME=$1 mvn -q -B -ntp org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
		-Dartifact="io.trino:$2:$version:$3" -DoutputDirectory="$4" -Dmdep.useBaseVersion=true
}

unpack() { # unpack JAVA_HOME FOLDER
	mkdir -p "$2/trino/plugin"
	tar -xzf "$2/trino-server-core-$version.tar.gz" -C "$2" "trino-server-core-$version/lib"
	mv "$2/trino-server-core-$version/lib" "$2/trino/lib"
	(cd "$2" && "$1/bin/jar" -xf "trino-hive-$version.zip")
	mv "$2/trino-hive-$version" "$2/trino/plugin/hive"
}

configure() { # configure DIR PORT
	local dir=$1 port=$2
	rm -rf "$dir/etc"
	mkdir -p "$dir/etc/catalog" "$dir/var" "$dir/tmp" "$dir/lake/metastore"
	cat >"$dir/etc/config.properties" <<-X
		coordinator=true
		node-scheduler.include-coordinator=true
		http-server.http.port=$port
		node.internal-address=127.0.0.1
		node.bind-ip=127.0.0.1
		discovery.uri=http://127.0.0.1:$port
		query.max-memory=512MB
		query.max-memory-per-node=512MB
		memory.heap-headroom-per-node=128MB
		# what is known of past queries would fill a small heap in minutes
		query.max-history=20
		query.min-expire-age=10s
		# what is known of past tasks is gone through every few seconds
		task.info.max-age=1m
	X
	# Absent folders are empty partitions, as on S3. Columns are found by name, as in Athena. The last two make
	# physicalInputBytes mean the pages needed: otherwise files under 3 MB are read whole and ranges less than 1 MB apart
	# are joined.
	cat >"$dir/etc/catalog/$catalog.properties" <<-X
		connector.name=hive
		hive.metastore=file
		hive.metastore.catalog.dir=local:///metastore
		hive.security=allow-all
		hive.partition-projection-enabled=true
		hive.ignore-absent-partitions=true
		hive.parquet.use-column-names=true
		fs.native-local.enabled=true
		local.location=$dir/lake
		parquet.small-file-threshold=0B
		parquet.max-merge-distance=0B
	X
	if [ -n "${TRINO_S3_ENDPOINT:-}" ]; then
		(
			umask 077
			cat >>"$dir/etc/catalog/$catalog.properties" <<-X
				fs.native-s3.enabled=true
				s3.endpoint=$TRINO_S3_ENDPOINT
				s3.region=${TRINO_S3_REGION:-us-east-1}
				s3.path-style-access=true
				s3.aws-access-key=${TRINO_S3_KEY:?TRINO_S3_KEY is missing beside TRINO_S3_ENDPOINT}
				s3.aws-secret-key=${TRINO_S3_SECRET:?TRINO_S3_SECRET is missing beside TRINO_S3_ENDPOINT}
			X
			chmod 600 "$dir/etc/catalog/$catalog.properties"
		)
	fi
}

# ask runs a statement and prints every page of its answer.
ask() { # ask PORT SQL
	local page next
	page=$(curl -sf -m 30 -H 'X-Trino-User: start' --data-binary "$2" "http://127.0.0.1:$1/v1/statement") || return 1
	while :; do
		printf '%s\n' "$page"
		[[ $page =~ \"nextUri\":\"([^\"]*)\" ]] || break
		next=${BASH_REMATCH[1]}
		page=$(curl -sf -m 30 -H 'X-Trino-User: start' "$next") || return 1
	done
}

# scans tells whether a table can be read: for seconds after the server says it has started, no node is there to.
scans() { # scans PORT
	local answer
	answer=$(ask "$1" "SELECT count(*) FROM $catalog.probe.t") && [[ $answer == *'"data":[[1]]'* ]]
}

# in_use tells whether something listens on that port.
in_use() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# ours succeeds if the process is the Trino of that folder: the system may have given its number to another since.
ours() { # ours PID DIR
	ps -p "$1" -o args= 2>/dev/null | grep -qF -- "-Dorrery.run=$2 "
}

# wait_until tries for some seconds, as long as the server lives.
wait_until() { # wait_until SECONDS PID COMMAND…
	local tries=$(($1 * 5)) pid=$2
	shift 2
	for _ in $(seq "$tries"); do
		! "$@" >/dev/null 2>&1 || return 0
		kill -0 "$pid" 2>/dev/null || return 1
		sleep 0.2
	done
	return 1
}

started() { curl -sf -m 5 "http://127.0.0.1:$1/v1/info" | grep -q '"starting":false'; }

start() {
	local dir=$1 home port pid tool
	for tool in curl ps tar; do
		command -v "$tool" >/dev/null 2>&1 || missing "$tool is missing: install it from your system's packages (Debian: curl, procps, tar)"
	done
	home=$(java_home)
	fetch "$home"
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	cd "$dir" # where Trino puts its log of requests
	if [ -f "$dir/pid" ]; then
		say "$dir holds a run already; stop it first: $0 stop $dir"
		exit 1
	fi
	for _ in 1 2 3 4 5; do # a port that was free may be taken before it is ours: then another one
		port=$((30000 + RANDOM % 2700))
		! in_use "$port" || continue
		configure "$dir" "$port"
		# The first compiler alone: quicker to start and on small queries.
		nohup "$home/bin/java" -Dorrery.run="$dir" -Xmx"${TRINO_XMX:-1G}" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
			-Djava.io.tmpdir="$dir/tmp" -XX:-UsePerfData -Djdk.attach.allowAttachSelf=true --enable-native-access=ALL-UNNAMED --add-modules jdk.incubator.vector \
			-Dfile.encoding=UTF-8 -Duser.timezone=UTC \
			-Dnode.environment=test -Dnode.id=local -Dnode.data-dir="$dir/var" \
			-Dconfig="$dir/etc/config.properties" -Dcatalog.config-dir="$dir/etc/catalog" -Dplugin.dir="$cache/plugin" \
			-cp "$cache/lib/*" "$main" </dev/null >"$dir/log" 2>&1 &
		pid=$!
		echo "$pid" >"$dir/pid"
		echo "$port" >"$dir/port"
		if wait_until 120 "$pid" started "$port" && probe "$dir" "$port" "$pid"; then
			echo "http://127.0.0.1:$port"
			return
		fi
		stop "$dir"
		grep -qi 'address already in use' "$dir/log" || break
	done
	say "it did not start; what $dir/log complains of:"
	grep -E '^[0-9]+\) |ERROR' "$dir/log" >&2 || tail -n 20 "$dir/log" >&2
	exit 1
}

# probe makes a table of one line, reads it, and leaves nothing behind.
probe() { # probe DIR PORT PID
	mkdir -p "$1/lake/probe"
	echo 1 >"$1/lake/probe/one.csv"
	ask "$2" "CREATE SCHEMA IF NOT EXISTS $catalog.probe" >/dev/null
	ask "$2" "CREATE TABLE IF NOT EXISTS $catalog.probe.t (x varchar) WITH (format = 'TEXTFILE', external_location = 'local:///probe')" >/dev/null
	wait_until 60 "$3" scans "$2" || return 1
	ask "$2" "DROP TABLE $catalog.probe.t" >/dev/null
	ask "$2" "DROP SCHEMA $catalog.probe" >/dev/null
	rm -rf "$1/lake/probe"
}

stop() {
	local dir pid
	[ -f "$1/pid" ] || return 0
	dir=$(cd "$1" && pwd)
	pid=$(cat "$dir/pid")
	if ours "$pid" "$dir"; then
		kill "$pid" 2>/dev/null || true
		for _ in $(seq 150); do
			ours "$pid" "$dir" || break
			sleep 0.2
		done
		! ours "$pid" "$dir" || kill -9 "$pid" 2>/dev/null || true
	fi
	rm -rf "$dir/pid" "$dir/port" "$dir/tmp"
}

case "${1:-} $#" in
"start 2") start "$2" ;;
"stop 2") stop "$2" ;;
"fetch 1") fetch "$(java_home)" ;;
*)
	sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac

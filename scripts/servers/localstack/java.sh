#!/bin/sh
# Stands where LocalStack expects a Java of its own, and starts DynamoDB Local as Maven Central has it: by its main
# class, because the manifest of that jar names other files than Maven's, and without LocalStack's agent, which is
# not on Maven Central and only lifts the limit of 20 indexes. LocalStack calls
#   java -Xmx256m -javaagent:… -Djava.library.path=… -jar …/DynamoDBLocal.jar -port N …
here=$(dirname "$0")
jars=$here/../../../dynamodb-local/2/DynamoDBLocal_lib
while [ $# -gt 0 ] && [ "$1" != -jar ]; do
	shift
done
shift 2
exec "$ORRERY_JAVA" -Djava.io.tmpdir="${TMPDIR:-/tmp}" -XX:-UsePerfData -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.library.path="$jars" -Dlog4j2.level=WARN \
	-cp "$jars/*" software.amazon.dynamodb.services.local.main.ServerRunner "$@"

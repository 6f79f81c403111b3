package wire

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/doctor"
	"github.com/orrery/orrery/shared/engine"
	keytable "github.com/orrery/orrery/shared/keys/dynamo"
	"github.com/orrery/orrery/shared/lake"
)

// tableChecks are those of a function that knows its callers by the table.
func tableChecks(client *dynamodb.Client, e environment, now func() time.Time) []doctor.Check {
	return []doctor.Check{
		doctor.Table(client, e.table, "keys"),
		doctor.Clock(client, e.table, "keys", now),
		doctor.Keys(keytable.New(client, e.table), now),
	}
}

// queryChecks are those of a function that asks Athena.
func queryChecks(client *athena.Client, states engine.States, e environment, now func() time.Time) []doctor.Check {
	checks := []doctor.Check{doctor.Workgroup(client, e.workgroup, e.results)}
	for _, name := range lake.TableNames {
		t := lake.Table{Schema: e.database, Name: name, Location: lake.TableLocation("s3://"+e.lakeBucket+"/lake/", name), FromYear: e.projectionFrom}
		checks = append(checks, doctor.Partitions(client, t))
	}
	return append(checks, doctor.Lake(states, now))
}

package wire

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/lists"
	"github.com/orrery/orrery/shared/keys/keydynamo"
	"github.com/orrery/orrery/shared/lake"
)

// tableChecks returns the checks of a function that reads API keys from the table.
func tableChecks(client *dynamodb.Client, e function.Environment, now func() time.Time) []doctor.Check {
	return []doctor.Check{
		doctor.Table(client, e.Table, "keys"),
		doctor.Clock(client, e.Table, "keys", now),
		doctor.Keys(keydynamo.New(client, e.Table), now),
	}
}

// queryChecks returns the checks of a function that queries Athena.
func queryChecks(
	client *athena.Client, states engine.States, e function.Environment, now func() time.Time,
) []doctor.Check {
	checks := []doctor.Check{doctor.Workgroup(client, e.Workgroup, e.Results)}
	for _, name := range lake.TableNames {
		location := lake.TableLocation("s3://"+e.LakeBucket+"/lake/", name)
		t := lake.Table{Schema: e.Database, Name: name, Location: location, FromYear: e.ProjectionFrom}
		checks = append(checks, doctor.Partitions(client, t))
	}
	return append(checks, doctor.FirstYear(states, e.ProjectionFrom), doctor.Lake(states, now), doctor.Damage(states))
}

// valueChecks returns the checks of a function that finds values in lists.
func valueChecks(states engine.States, finder *lists.Engine, now func() time.Time) []doctor.Check {
	return []doctor.Check{doctor.Lake(states, now), doctor.Damage(states), doctor.ValueLists(finder)}
}

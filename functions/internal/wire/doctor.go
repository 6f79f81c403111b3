package wire

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lakestate/lists"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// tableChecks returns the checks of a function that reads API keys from the table.
func tableChecks(client *dynamodb.Client, e function.Environment, now func() time.Time) []doctor.Check {
	return []doctor.Check{
		doctor.Table(client, e.Table, "keys"),
		doctor.Clock(client, e.Table, "keys", now),
		doctor.Keys(keys.Over(tabledynamo.New(client, e.Table)), now),
	}
}

// valueChecks returns the checks of a function that finds values in lists.
func valueChecks(states engine.States, finder *lists.Engine, now func() time.Time) []doctor.Check {
	return []doctor.Check{doctor.Lake(states, now), doctor.Damage(states), doctor.ValueLists(finder)}
}

package wire

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/doctor"
	keytable "github.com/orrery/orrery/shared/keys/dynamo"
)

// tableChecks are those of a function that knows its callers by the table.
func tableChecks(client *dynamodb.Client, e environment) []doctor.Check {
	return []doctor.Check{
		doctor.Table(client, e.table, "keys"),
		doctor.Clock(client, e.table, "keys", time.Now),
		doctor.Keys(keytable.New(client, e.table), time.Now),
	}
}

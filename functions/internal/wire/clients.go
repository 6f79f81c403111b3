package wire

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/dynamo"
	"github.com/orrery/orrery/shared/keys"
	keytable "github.com/orrery/orrery/shared/keys/dynamo"
)

// tableClient is the client of the one table, and the callers that are kept in it.
func tableClient(c aws.Config, e function.Environment) (*dynamodb.Client, *keys.Cache) {
	client := dynamo.NewClient(c)
	return client, keys.NewCache(keytable.New(client, e.Table), time.Now)
}

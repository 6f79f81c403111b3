package wire

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/keys/keydynamo"
)

// tableClient returns a client of the DynamoDB table, and the API keys in the table.
func tableClient(c aws.Config, e function.Environment) (*dynamodb.Client, *keys.Cache) {
	client := dynamotable.NewClient(c)
	return client, keys.NewCache(keydynamo.New(client, e.Table), time.Now)
}

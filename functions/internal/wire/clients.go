package wire

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// parts are what most functions begin with: their row and environment, the configuration of the AWS SDK, a client of the
// DynamoDB table, and the API keys in the table.
type parts struct {
	row         lambdas.Function
	environment function.Environment
	aws         aws.Config
	table       *dynamodb.Client
	callers     *keys.Cache
}

func begin(ctx context.Context, name string, lookup function.Lookup) (parts, error) {
	f, e, err := function.Begin(name, lookup)
	if err != nil {
		return parts{}, err
	}
	c, err := function.LoadAWS(ctx)
	if err != nil {
		return parts{}, err
	}
	client, callers := tableClient(c, e)
	return parts{f, e, c, client, callers}, nil
}

// tableClient returns a client of the DynamoDB table, and the API keys in the table.
func tableClient(c aws.Config, e function.Environment) (*dynamodb.Client, *keys.Cache) {
	client := dynamotable.NewClient(c)
	return client, keys.NewCache(keys.Over(tabledynamo.New(client, e.Table)), time.Now)
}

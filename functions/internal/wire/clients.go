package wire

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// parts are what most functions begin with: their row and environment, the configuration of the AWS SDK, a client of
// DynamoDB, the table, and the API keys in the table.
type parts struct {
	row         lambdas.Function
	environment function.Environment
	aws         aws.Config
	client      *dynamodb.Client
	table       table.Table
	callers     *keys.Cache
}

func begin(ctx context.Context, name string, lookup function.Lookup) (parts, error) {
	f, e, c, err := function.BeginOnAWS(ctx, name, lookup)
	if err != nil {
		return parts{}, err
	}
	client := tabledynamo.NewClient(c)
	items := tabledynamo.New(client, e.Table)
	return parts{f, e, c, client, items, keys.NewCache(keys.Over(items), time.Now)}, nil
}

package wire

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/dynamo"
	"github.com/orrery/orrery/shared/keys"
	keytable "github.com/orrery/orrery/shared/keys/dynamo"
)

// account reads what the clients of AWS need to know: region, credentials, and other endpoints than AWS's own. The
// SDK reads them from variables of its own.
func account(ctx context.Context) (aws.Config, error) {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return c, fmt.Errorf("read the configuration of AWS: %w", err)
	}
	if c.Region == "" {
		return c, fmt.Errorf("no region is set: AWS_REGION names it, such as eu-central-1")
	}
	return c, nil
}

// tableClient is the client of the one table, and the callers that are kept in it.
func tableClient(c aws.Config, e environment) (*dynamodb.Client, *keys.Cache) {
	client := dynamo.NewClient(c)
	return client, keys.NewCache(keytable.New(client, e.table), time.Now)
}

// objectClient is the client of S3. Servers other than Amazon's have no name for each bucket.
func objectClient(c aws.Config) *s3.Client {
	return s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = o.BaseEndpoint != nil })
}

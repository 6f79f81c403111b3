package function

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/lambdas"
)

// BeginOnAWS is like Begin, and also returns the configuration that clients of AWS need.
func BeginOnAWS(ctx context.Context, name string, lookup Lookup) (lambdas.Function, Environment, aws.Config, error) {
	f, e, err := Begin(name, lookup)
	if err != nil {
		return f, e, aws.Config{}, err
	}
	c, err := loadAWS(ctx)
	return f, e, c, err
}

// loadAWS reads the configuration that clients of AWS need: the region, credentials and, for emulators, endpoints. The
// SDK reads it from variables of its own.
func loadAWS(ctx context.Context) (aws.Config, error) {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return c, fmt.Errorf("read the configuration of AWS: %w", err)
	}
	if c.Region == "" {
		return c, fmt.Errorf("no region is set; set AWS_REGION, for example to eu-central-1")
	}
	return c, nil
}

// NewS3 returns a client of S3. For an emulator, which has no host name for each bucket, it uses path-style addresses.
func NewS3(c aws.Config) *s3.Client {
	return s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = o.BaseEndpoint != nil })
}

package target

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/orrery/orrery/scripts/internal/rawbucket"
)

// RawBucket returns the bucket of raw logs of the deployment with a name or, if dir is not empty, of the one that runs
// in a folder. region may be empty.
func RawBucket(ctx context.Context, stack, dir, region string) (*rawbucket.Bucket, error) {
	if dir != "" {
		return rawbucket.OfFolder(dir)
	}
	var options []func(*config.LoadOptions) error
	if region != "" {
		options = append(options, config.WithRegion(region))
	}
	configuration, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	return rawbucket.OfStack(ctx, configuration, stack)
}

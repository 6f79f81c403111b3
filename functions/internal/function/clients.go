package function

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/shared/lambdas"
)

// BeginOnAWS is like Begin, and also returns the configuration that clients of AWS need. It sets the limit of the garbage
// collector to the memory of the function.
func BeginOnAWS(ctx context.Context, name string, lookup Lookup) (lambdas.Function, Environment, aws.Config, error) {
	f, e, err := Begin(name, lookup)
	if err != nil {
		return f, e, aws.Config{}, err
	}
	if limit, known := MemoryLimit(lookup); known {
		debug.SetMemoryLimit(limit)
	}
	c, err := loadAWS(ctx)
	return f, e, c, err
}

// MemoryLimit returns the part of the memory of the function that the garbage collector may use. It is known on Lambda.
func MemoryLimit(lookup Lookup) (bytes int64, known bool) {
	text, _ := lookup("AWS_LAMBDA_FUNCTION_MEMORY_SIZE") // in MB
	megabytes, err := strconv.ParseInt(text, 10, 64)
	return megabytes << 20 / 10 * 8, err == nil && megabytes > 0
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
func NewS3(c aws.Config, more ...func(*s3.Options)) *s3.Client {
	pathStyle := func(o *s3.Options) { o.UsePathStyle = o.BaseEndpoint != nil }
	return s3.NewFromConfig(c, append(more, pathStyle)...)
}

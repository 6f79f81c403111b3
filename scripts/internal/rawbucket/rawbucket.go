// Package rawbucket puts logs into the bucket of raw logs of a deployment, which imports them, and has what the
// deployment put into quarantine imported again.
package rawbucket

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/scripts/internal/localaws"
	"github.com/orrery/orrery/shared/stack"
)

// Bucket is the bucket of raw logs of a deployment.
type Bucket struct {
	Name string

	client  *s3.Client
	keeps   period
	aws     aws.Config
	outputs map[string]string // of the deployment
}

// period describes the times of the records that a deployment keeps.
type period struct {
	known     bool          // the deployment reports it
	firstYear int           // of the records that are kept
	horizon   time.Duration // age of the oldest records of a log that is not under history; 0 for any
	widen     string        // what to do to keep earlier years, with a verb for the year
}

// Outputs of the stacks. Their names are those in infra/.
const (
	bucketOutput  = "RawBucketName"
	yearOutput    = "ProjectionFrom"
	horizonOutput = "HorizonDays"
)

// dataStack ends the name of the stack that has the bucket.
const dataStack = "-data"

// OfStack returns the bucket of a deployment on AWS. The name is that of the deployment, which is the property name of
// its stacks, or that of its data stack.
func OfStack(ctx context.Context, c aws.Config, name string) (*Bucket, error) {
	if c.Region == "" {
		return nil, errNoRegion
	}
	if _, err := c.Credentials.Retrieve(ctx); err != nil {
		return nil, noCredentials(err)
	}
	outputs, err := stack.Outputs(ctx, c, name+dataStack)
	if errors.Is(err, stack.ErrNotFound) {
		outputs, err = stack.Outputs(ctx, c, name)
	}
	if errors.Is(err, stack.ErrNotFound) {
		return nil, noStack(name, c.Region)
	}
	if err != nil {
		return nil, stackFailed(name, err)
	}
	if outputs[bucketOutput] == "" {
		return nil, noBucket(name)
	}
	return open(c, outputs, "deploy it with -c projection-from=%d")
}

// OfFolder returns the bucket of the deployment that `orrery up --dir DIR` runs.
func OfFolder(dir string) (*Bucket, error) {
	running, err := localaws.ReadConnection(dir)
	if errors.Is(err, localaws.ErrNotRunning) {
		return nil, notRunning(dir)
	}
	if err != nil {
		return nil, err
	}
	c := aws.Config{
		Region:       running.Region,
		BaseEndpoint: &running.AWSEndpoint,
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
	}
	return open(c, running.Outputs, "start it with `orrery up --from-year %d`")
}

// open returns the bucket that the outputs of a deployment name. An emulator has no host name for each bucket.
func open(c aws.Config, outputs map[string]string, widen string) (*Bucket, error) {
	client := s3.NewFromConfig(c, func(o *s3.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil
		o.DisableLogOutputChecksumValidationSkipped = true // it would be printed between the messages
	})
	b := &Bucket{Name: outputs[bucketOutput], client: client, keeps: period{widen: widen}, aws: c, outputs: outputs}
	if outputs[yearOutput] == "" || outputs[horizonOutput] == "" {
		return b, nil // of an earlier version
	}
	year, err1 := strconv.Atoi(outputs[yearOutput])
	days, err2 := strconv.Atoi(outputs[horizonOutput])
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("read the outputs of the deployment: %w", err)
	}
	b.keeps.known, b.keeps.firstYear, b.keeps.horizon = true, year, time.Duration(days)*24*time.Hour
	return b, nil
}

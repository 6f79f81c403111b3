// Package counting assembles the function that counts parts of large questions for others.
package counting

import (
	"context"
	"net/http"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/engine/scan/scanblob"
	"github.com/orrery/orrery/shared/lakestate/parts"
	"github.com/orrery/orrery/shared/lambdas"
)

// New returns the function part.
func New(ctx context.Context, lookup function.Lookup) (*function.Function, error) {
	f, e, c, err := function.BeginOnAWS(ctx, lambdas.Part, lookup)
	if err != nil {
		return nil, err
	}
	client := function.NewS3(c, KeepConnections)
	memory, known := function.MemoryLimit(lookup)
	if !known {
		memory = 1 << 30
	}
	bucket, _ := e.ResultsFolder()
	return Over(f, e, &parts.Worker{
		Lake: s3.New(client, e.LakeBucket), Results: s3.New(client, bucket), Version: e.Version, Memory: memory * 2 / 5,
		Patience: scanblob.Patience, Now: time.Now,
	}), nil
}

// Over returns the function part over a worker.
func Over(f lambdas.Function, e function.Environment, worker *parts.Worker) *function.Function {
	bucket, prefix := e.ResultsFolder()
	return function.New(f, e, function.HandlerOf(worker.Do),
		doctor.Bucket("lake bucket", worker.Lake, e.LakeBucket, "lake/"),
		doctor.Bucket("results bucket", worker.Results, bucket, prefix+parts.Folder),
	)
}

// KeepConnections makes a client keep all connections of a scan. It keeps ten otherwise.
func KeepConnections(o *awss3.Options) {
	if client, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
		o.HTTPClient = client.WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConnsPerHost = scanblob.Connections
		})
	}
}

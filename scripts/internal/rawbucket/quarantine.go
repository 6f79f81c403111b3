package rawbucket

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/queue"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// Outputs of the stacks that only Quarantine needs.
const (
	lakeOutput  = "LakeBucketName"
	tableOutput = "TableName"
	queueOutput = "RawQueueURL"
)

// Quarantine is the quarantine of a deployment.
type Quarantine struct {
	*cloud.Store
	bucket   string // of raw logs
	messages queue.Messages
}

// Quarantine returns the quarantine of the deployment. scratch is a folder for temporary files, which it empties.
func (b *Bucket) Quarantine(scratch string) (*Quarantine, error) {
	for _, name := range []string{lakeOutput, tableOutput, queueOutput} {
		if b.outputs[name] == "" {
			return nil, noOutput(name)
		}
	}
	store, err := cloud.New(cloud.Config{
		Raw:      s3.New(b.client, b.Name),
		Lake:     s3.New(b.client, b.outputs[lakeOutput]),
		Table:    lakestate.Over(tabledynamo.New(tabledynamo.NewClient(b.aws), b.outputs[tableOutput])),
		Scratch:  scratch,
		FromYear: b.keeps.firstYear,
		Now:      time.Now,
	})
	if err != nil {
		return nil, err
	}
	return &Quarantine{store, b.Name, queue.NewSQS(sqs.NewFromConfig(b.aws), b.outputs[queueOutput])}, nil
}

// Release has a log imported again that was refused or has no records. format is the name of its format, or "" to
// detect it again.
func (q *Quarantine) Release(ctx context.Context, key, format string) error {
	return q.Store.Release(ctx, key, func(ctx context.Context, log rawlog.Log, put time.Time) error {
		log.Format = format
		return queue.SendLog(ctx, q.messages, q.bucket, log, put)
	})
}

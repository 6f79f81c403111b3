package reports

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// sqsQueue is a queue of Amazon SQS.
type sqsQueue struct {
	client *sqs.Client
	url    string
}

var _ Queue = (*sqsQueue)(nil)

func newQueue(client *sqs.Client, url string) *sqsQueue { return &sqsQueue{client, url} }

// Send puts a message into the queue.
func (q *sqsQueue) Send(ctx context.Context, body string) error {
	if _, err := q.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: &body}); err != nil {
		return fmt.Errorf("send a message to %s: %w", q.url, err)
	}
	return nil
}

// Waiting returns about how many messages wait to be delivered.
func (q *sqsQueue) Waiting(ctx context.Context) (int, error) {
	const name = types.QueueAttributeNameApproximateNumberOfMessages
	got, err := q.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &q.url, AttributeNames: []types.QueueAttributeName{name},
	})
	if err != nil {
		return 0, fmt.Errorf("read the attributes of %s: %w", q.url, err)
	}
	n, err := strconv.Atoi(got.Attributes[string(name)])
	if err != nil {
		return 0, fmt.Errorf("read the attributes of %s: %s is %q", q.url, name, got.Attributes[string(name)])
	}
	return n, nil
}

package queue

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// SQS is a queue of Amazon SQS.
type SQS struct {
	client *sqs.Client
	url    string
}

var _ Messages = (*SQS)(nil)

// NewSQS returns the queue with that URL.
func NewSQS(client *sqs.Client, url string) *SQS { return &SQS{client, url} }

// Send puts a message into the queue.
func (q *SQS) Send(ctx context.Context, body string, first time.Time) error {
	number := strconv.FormatInt(first.UnixMilli(), 10)
	_, err := q.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &q.url, MessageBody: &body,
		MessageAttributes: map[string]types.MessageAttributeValue{
			firstSentName: {DataType: aws.String("Number"), StringValue: &number},
		},
	})
	if err != nil {
		return fmt.Errorf("send a message to %s: %w", q.url, err)
	}
	return nil
}

// Hide has a received message delivered again after a duration, which is rounded up to seconds.
func (q *SQS) Hide(ctx context.Context, receipt string, d time.Duration) error {
	seconds := int32((d + time.Second - 1) / time.Second)
	_, err := q.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &q.url, ReceiptHandle: &receipt, VisibilityTimeout: seconds,
	})
	if err != nil {
		return fmt.Errorf("hide a message of %s: %w", q.url, err)
	}
	return nil
}

// Waiting returns about how many messages wait to be delivered, hidden ones included.
func (q *SQS) Waiting(ctx context.Context) (int, error) {
	names := []types.QueueAttributeName{
		types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
	}
	got, err := q.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &q.url, AttributeNames: names})
	if err != nil {
		return 0, fmt.Errorf("read the attributes of %s: %w", q.url, err)
	}
	sum := 0
	for _, name := range names {
		n, err := strconv.Atoi(got.Attributes[string(name)])
		if err != nil {
			return 0, fmt.Errorf("read the attributes of %s: %s is %q", q.url, name, got.Attributes[string(name)])
		}
		sum += n
	}
	return sum, nil
}

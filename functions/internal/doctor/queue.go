package doctor

import (
	"context"
	"fmt"
)

// Queue is a queue of SQS.
type Queue interface {
	// Waiting returns about how many messages wait to be delivered.
	Waiting(ctx context.Context) (int, error)
}

// RawQueue checks that the attributes of the queue of raw logs can be read, and reports how many messages wait.
func RawQueue(queue Queue, url string) Check {
	return queueCheck("raw queue", "ORRERY_RAW_QUEUE must be the URL of the queue", queue, url)
}

// RawDeadLetters is like RawQueue for the queue of messages that ingest gave up on.
func RawDeadLetters(queue Queue, url string) Check {
	return queueCheck("raw dead letters", "ORRERY_RAW_DEAD_LETTERS must be the URL of the dead letters", queue, url)
}

// ReportQueue is like RawQueue for the queue of runs of scheduled reports.
func ReportQueue(queue Queue, url string) Check {
	return queueCheck("report queue", "ORRERY_REPORT_QUEUE must be the URL of the queue", queue, url)
}

func queueCheck(name, variable string, queue Queue, url string) Check {
	return Check{
		Name: name,
		Remedy: variable + " of the deployment, in the function's region, " +
			"and the function's role must allow sqs:GetQueueAttributes on it; deploying the stacks again sets both",
		Run: func(ctx context.Context) (string, error) {
			n, err := queue.Waiting(ctx)
			if err != nil {
				return "", refused(err, "the queue "+url)
			}
			return fmt.Sprintf("the queue %s can be read; its number of messages is about %d", url, n), nil
		},
	}
}

// Package dynamotest gives tests a table of their own in a DynamoDB, real or local.
package dynamotest

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/dynamotable"
)

// Variable names the URL of the DynamoDB that tests use; scripts/servers/dynamodb.sh starts one.
const Variable = "ORRERY_TEST_DYNAMODB"

// Client gives a client and the name of a new, empty table that is deleted when the test ends. Without a DynamoDB
// the test is skipped.
func Client(t testing.TB, options ...func(*dynamodb.Options)) (*dynamodb.Client, string) {
	t.Helper()
	client := Connect(t, options...)
	name := "orrery-test-" + strings.ToLower(rand.Text())
	honest := Connect(t) // the caller's options may make faults
	if _, err := honest.CreateTable(t.Context(), dynamotable.CreateTable(name)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := honest.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: aws.String(name)}); err != nil {
			t.Error(err)
		}
	})
	if _, err := honest.UpdateTimeToLive(t.Context(), dynamotable.TimeToLive(name)); err != nil {
		t.Fatal(err)
	}
	return client, name
}

// Connect gives one more client, for a table that Client made. It tries again without pauses.
func Connect(t testing.TB, options ...func(*dynamodb.Options)) *dynamodb.Client {
	t.Helper()
	url := os.Getenv(Variable)
	if url == "" {
		t.Skipf("%s names no DynamoDB: start one with scripts/servers/dynamodb.sh start DIR", Variable)
	}
	cfg := aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String(url),
	}
	return dynamotable.NewClient(cfg, append([]func(*dynamodb.Options){hurry}, options...)...)
}

// hurry takes the pauses between attempts out.
func hurry(o *dynamodb.Options) {
	o.Retryer = dynamotable.Retryer(func(r *retry.StandardOptions) {
		r.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
}

// Package dynamotest provides each test with its own table in a real or local DynamoDB.
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

	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// Variable is the environment variable with the URL of the DynamoDB that tests use. scripts/servers/dynamodb.sh starts
// one.
const Variable = "ORRERY_TEST_DYNAMODB"

// Client returns a client and the name of a new, empty table, which is deleted when the test ends. It skips the test if
// there is no DynamoDB.
func Client(t testing.TB, options ...func(*dynamodb.Options)) (*dynamodb.Client, string) {
	t.Helper()
	client := Connect(t, options...)
	name := "orrery-test-" + strings.ToLower(rand.Text())
	admin := Connect(t) // without the caller's options, which may inject faults
	if _, err := admin.CreateTable(t.Context(), tabledynamo.CreateTable(name)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in := &dynamodb.DeleteTableInput{TableName: aws.String(name)}
		if _, err := admin.DeleteTable(context.Background(), in); err != nil {
			t.Error(err)
		}
	})
	if _, err := admin.UpdateTimeToLive(t.Context(), tabledynamo.TimeToLive(name)); err != nil {
		t.Fatal(err)
	}
	return client, name
}

// Connect returns another client for a table that Client created. The client repeats requests without pauses.
func Connect(t testing.TB, options ...func(*dynamodb.Options)) *dynamodb.Client {
	t.Helper()
	url := os.Getenv(Variable)
	if url == "" {
		t.Skipf("%s is not set: start a DynamoDB with scripts/servers/dynamodb.sh start DIR", Variable)
	}
	cfg := aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String(url),
	}
	return tabledynamo.NewClient(cfg, append([]func(*dynamodb.Options){withoutPauses}, options...)...)
}

// withoutPauses removes the pauses between attempts.
func withoutPauses(o *dynamodb.Options) {
	o.Retryer = tabledynamo.Retryer(func(r *retry.StandardOptions) {
		r.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
}

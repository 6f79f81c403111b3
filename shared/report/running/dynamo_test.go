package running_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/runs/runsdynamo"
	"github.com/orrery/orrery/shared/report/runs/runstest"
)

// dynamoRuns returns the store of runs of a deployment, over a table and a bucket in memory. Each write of both is a step
// of the crash that fault returns, if it returns one.
func dynamoRuns(fault func() *crash) runs.Store {
	table := &table{fault: fault, items: map[string]item{}}
	client := dynamotable.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		BaseEndpoint: aws.String("http://dynamodb.invalid"),
	}, func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = &http.Client{Transport: table}, aws.NopRetryer{} })
	return runsdynamo.New(client, "orrery", &bucket{fault: fault})
}

// bucket is a bucket of which each write is a step.
type bucket struct {
	blobtest.Memory
	fault func() *crash
}

func (b *bucket) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	return b.fault().step("put", func() error { return b.Memory.Put(ctx, name, body, when) })
}

func (b *bucket) Delete(ctx context.Context, names ...string) error {
	return b.fault().step("delete", func() error { return b.Memory.Delete(ctx, names...) })
}

// step runs a step.
func (c *crash) step(name string, run func() error) error {
	err := c.before(name)
	if err == nil {
		err = run()
	}
	if err == nil {
		err = c.after()
	}
	return err
}

// table answers the requests of runsdynamo as DynamoDB does. Each transaction is a step.
type table struct {
	fault func() *crash

	mutex sync.Mutex
	items map[string]item // by key
}

// item is an item in the JSON of DynamoDB, or a part of one.
type item map[string]struct{ S, N string }

func (i item) key() string { return i["pk"].S + "\x00" + i["sk"].S }

// MarshalJSON leaves out the type that an attribute does not have.
func (i item) MarshalJSON() ([]byte, error) {
	attributes := map[string]map[string]string{}
	for name, value := range i {
		if attributes[name] = map[string]string{"S": value.S}; value.N != "" {
			attributes[name] = map[string]string{"N": value.N}
		}
	}
	return json.Marshal(attributes)
}

// dynamoRequest has the members of the requests of runsdynamo.
type dynamoRequest struct {
	Key                       item
	ExpressionAttributeValues item
	ScanIndexForward          *bool
	Limit                     int
	FilterExpression          string
	TransactItems             []struct {
		Put *struct {
			Item                      item
			ConditionExpression       string
			ExpressionAttributeValues item
		}
		Delete *struct{ Key item }
	}
}

// RoundTrip implements http.RoundTripper.
func (t *table) RoundTrip(r *http.Request) (*http.Response, error) {
	var request dynamoRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return nil, err
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	status, answer := http.StatusOK, any(map[string]any{})
	switch _, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); operation {
	case "GetItem":
		if found, ok := t.items[request.Key.key()]; ok {
			answer = map[string]any{"Item": found}
		}
	case "Query":
		answer = map[string]any{"Items": t.query(request)}
	case "TransactWriteItems":
		err := t.fault().step("write", func() error {
			if !t.write(request) {
				status, answer = http.StatusBadRequest, map[string]any{
					"__type":              "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
					"CancellationReasons": []map[string]string{{"Code": "ConditionalCheckFailed"}},
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("the table has no %s", operation)
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, err
}

// query returns the items of a partition by their sort keys. A limit is that of a page, of which there is only one here.
func (t *table) query(r dynamoRequest) []item {
	list := []item{}
	for _, key := range slices.Sorted(maps.Keys(t.items)) {
		one := t.items[key]
		filtered := r.FilterExpression != "" && one["scheduled"] != r.ExpressionAttributeValues[":yes"]
		if one["pk"].S == r.ExpressionAttributeValues[":pk"].S && !filtered {
			list = append(list, one)
		}
	}
	if r.ScanIndexForward != nil && !*r.ScanIndexForward {
		slices.Reverse(list)
	}
	return list
}

// write makes a transaction if all of its conditions are true.
func (t *table) write(r dynamoRequest) bool {
	for _, w := range r.TransactItems {
		if w.Put == nil {
			continue
		}
		there, exists := t.items[w.Put.Item.key()]
		switch w.Put.ConditionExpression {
		case "":
		case "attribute_not_exists(pk)":
			if exists {
				return false
			}
		case "revision = :before":
			if !exists || there["revision"] != w.Put.ExpressionAttributeValues[":before"] {
				return false
			}
		default:
			panic("unknown condition " + w.Put.ConditionExpression)
		}
	}
	for _, w := range r.TransactItems {
		if w.Put == nil {
			delete(t.items, w.Delete.Key.key())
			continue
		}
		t.items[w.Put.Item.key()] = w.Put.Item
		var run runs.Run
		if err := json.Unmarshal([]byte(w.Put.Item["run"].S), &run); err != nil {
			panic(err)
		}
		t.fault().recorded(run)
	}
	return true
}

// TestTableOfTests: the table in memory has the properties of DynamoDB that the stores of runs need.
func TestTableOfTests(t *testing.T) {
	runstest.Run(t, func(*testing.T) runs.Store { return dynamoRuns(func() *crash { return nil }) })
}

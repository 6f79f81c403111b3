// Package pendingdynamo keeps pending queries in the deployment's DynamoDB table, where every instance finds them.
package pendingdynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/search/pending"
)

// Store is pending.Store over a table. The table removes what has expired hours later; until then it is not found.
type Store struct {
	client *dynamodb.Client
	table  string
	keep   time.Duration
	now    func() time.Time
	pause  func(ctx context.Context, n int) error
}

var _ pending.Store = (*Store)(nil)

// New is a store over a table of the shape that package dynamo defines. Queries are kept for that long from their
// beginning; the engine must keep results for longer.
func New(client *dynamodb.Client, table string, keep time.Duration, now func() time.Time) *Store {
	return &Store{client, table, keep, now, dynamotable.Pause}
}

// contentions is how often a write that met another transaction is tried again before it fails.
const contentions = 8

// Keep implements pending.Store. The key and the query, in as many items as it needs, are written together or not at
// all.
func (s *Store) Keep(ctx context.Context, p pending.Query) (pending.Query, error) {
	writes := []types.TransactWriteItem{{Put: &types.Put{
		TableName:                 &s.table,
		Item:                      s.join(p),
		ConditionExpression:       aws.String("attribute_not_exists(" + dynamotable.PartitionKey + ") OR " + dynamotable.Expires + " <= :now"),
		ExpressionAttributeValues: dynamotable.Item{":now": dynamotable.Number(s.now().Unix())},
	}}}
	for _, item := range s.items(p) {
		writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: item}})
	}
	for n := 0; ; n++ {
		_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
		if err == nil {
			return p, nil
		}
		if dynamotable.Refused(err) {
			known, missing := s.Find(ctx, p.Key)
			if fault.KindOf(missing) != fault.NotFound || n == contentions {
				return known, missing
			}
			continue // it was forgotten in this moment
		}
		if !dynamotable.Contended(err) || n == contentions || s.pause(ctx, n) != nil {
			return pending.Query{}, dynamotable.Failure(ctx, err, "keep query %s", p.ID)
		}
	}
}

// Find implements pending.Store.
func (s *Store) Find(ctx context.Context, key string) (pending.Query, error) {
	found, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: joinKey(key), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return pending.Query{}, dynamotable.Failure(ctx, err, "find the query of a request")
	}
	if s.gone(found.Item) {
		return pending.Query{}, pending.ErrNoQuery
	}
	r := dynamotable.Read(found.Item)
	id := r.String(idAttribute)
	if r.Err() != nil {
		return pending.Query{}, r.Err()
	}
	return s.Get(ctx, pending.ID(id))
}

// Get implements pending.Store.
func (s *Store) Get(ctx context.Context, id pending.ID) (pending.Query, error) {
	var items []dynamotable.Item
	pages := dynamodb.NewQueryPaginator(s.client, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String(dynamotable.PartitionKey + " = :pk"),
		ExpressionAttributeValues: dynamotable.Item{":pk": dynamotable.String(queryPrefix + string(id))},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return pending.Query{}, dynamotable.Failure(ctx, err, "read query %s", id)
		}
		items = append(items, page.Items...)
	}
	if len(items) == 0 || s.gone(items[0]) {
		return pending.Query{}, pending.ErrNoQuery
	}
	p, err := pendingOf(id, items)
	if err != nil {
		return pending.Query{}, fmt.Errorf("read query %s: %w", id, err)
	}
	return p, nil
}

// Move implements pending.Store.
func (s *Store) Move(ctx context.Context, id pending.ID, to engine.Execution) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       dynamotable.Key(queryPrefix+string(id), headKey),
		UpdateExpression:          aws.String("SET " + executionAttribute + " = :to"),
		ConditionExpression:       aws.String(dynamotable.Expires + " > :now"), // so it is there
		ExpressionAttributeValues: dynamotable.Item{":to": dynamotable.String(string(to)), ":now": dynamotable.Number(s.now().Unix())},
	})
	switch {
	case dynamotable.Refused(err):
		return pending.ErrNoQuery
	case err != nil:
		return dynamotable.Failure(ctx, err, "move query %s", id)
	}
	return nil
}

// Forget implements pending.Store. The key may belong to a later query already, which stays.
func (s *Store) Forget(ctx context.Context, p pending.Query) error {
	writes := []types.TransactWriteItem{{Delete: &types.Delete{
		TableName:                 &s.table,
		Key:                       joinKey(p.Key),
		ConditionExpression:       aws.String("attribute_not_exists(" + dynamotable.PartitionKey + ") OR " + idAttribute + " = :id"),
		ExpressionAttributeValues: dynamotable.Item{":id": dynamotable.String(string(p.ID))},
	}}}
	for _, item := range s.items(p) {
		writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.table, Key: dynamotable.Item{dynamotable.PartitionKey: item[dynamotable.PartitionKey], dynamotable.SortKey: item[dynamotable.SortKey]},
		}})
	}
	for n := 0; ; n++ {
		_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
		switch {
		case err == nil:
			return nil
		case dynamotable.Refused(err):
			writes = writes[1:]
		case !dynamotable.Contended(err) || n == contentions || s.pause(ctx, n) != nil:
			return dynamotable.Failure(ctx, err, "forget query %s", p.ID)
		}
	}
}

// gone reports whether an item is missing or expired. The table removes expired items later.
func (s *Store) gone(item dynamotable.Item) bool {
	return len(item) == 0 || dynamotable.Read(item).OptionalInt64(dynamotable.Expires) <= s.now().Unix()
}

// Package pendingdynamo stores pending queries in the deployment's DynamoDB table, which all instances share.
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

// Store implements pending.Store with a table. DynamoDB may remove expired items hours late, so the store ignores them.
type Store struct {
	client *dynamodb.Client
	table  string
	keep   time.Duration
	now    func() time.Time
	pause  func(ctx context.Context, n int) error
}

var _ pending.Store = (*Store)(nil)

// New returns a store for a table as package dynamotable defines it. A query expires when the time keep has passed
// since its start. The engine must keep results for longer.
func New(client *dynamodb.Client, table string, keep time.Duration, now func() time.Time) *Store {
	return &Store{client, table, keep, now, dynamotable.Pause}
}

// maxRetries is the number of times that a write is repeated because it conflicts with another transaction.
const maxRetries = 8

// Keep implements pending.Store. It writes the key and all items of the query in one transaction.
func (s *Store) Keep(ctx context.Context, p pending.Query) (pending.Query, error) {
	const absent = "attribute_not_exists(" + dynamotable.PartitionKey + ") OR " + dynamotable.Expires + " <= :now"
	writes := []types.TransactWriteItem{{Put: &types.Put{
		TableName:                 &s.table,
		Item:                      s.join(p),
		ConditionExpression:       aws.String(absent),
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
			if fault.KindOf(missing) != fault.NotFound || n == maxRetries {
				return known, missing
			}
			continue // the other query was removed meanwhile
		}
		if !dynamotable.Contended(err) || n == maxRetries || s.pause(ctx, n) != nil {
			return pending.Query{}, dynamotable.Failure(ctx, err, "keep query %s", p.ID)
		}
	}
}

// Find implements pending.Store.
func (s *Store) Find(ctx context.Context, key string) (pending.Query, error) {
	found, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: joinKey(key), ConsistentRead: aws.Bool(true),
	})
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
		TableName:           &s.table,
		Key:                 dynamotable.Key(queryPrefix+string(id), headKey),
		UpdateExpression:    aws.String("SET " + executionAttribute + " = :to"),
		ConditionExpression: aws.String(dynamotable.Expires + " > :now"), // false if there is no item
		ExpressionAttributeValues: dynamotable.Item{
			":to":  dynamotable.String(string(to)),
			":now": dynamotable.Number(s.now().Unix()),
		},
	})
	switch {
	case dynamotable.Refused(err):
		return pending.ErrNoQuery
	case err != nil:
		return dynamotable.Failure(ctx, err, "move query %s", id)
	}
	return nil
}

// Detach implements pending.Store.
func (s *Store) Detach(ctx context.Context, p pending.Query) error { return s.remove(ctx, p, nil) }

// Forget implements pending.Store.
func (s *Store) Forget(ctx context.Context, p pending.Query) error {
	return s.remove(ctx, p, s.items(p))
}

// remove removes the key of a query, unless it belongs to a later query, and items of the query.
func (s *Store) remove(ctx context.Context, p pending.Query, items []dynamotable.Item) error {
	const own = "attribute_not_exists(" + dynamotable.PartitionKey + ") OR " + idAttribute + " = :id"
	writes := []types.TransactWriteItem{{Delete: &types.Delete{
		TableName:                 &s.table,
		Key:                       joinKey(p.Key),
		ConditionExpression:       aws.String(own),
		ExpressionAttributeValues: dynamotable.Item{":id": dynamotable.String(string(p.ID))},
	}}}
	for _, item := range items {
		key := dynamotable.Item{
			dynamotable.PartitionKey: item[dynamotable.PartitionKey],
			dynamotable.SortKey:      item[dynamotable.SortKey],
		}
		writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: key}})
	}
	for n := 0; len(writes) > 0; n++ {
		_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
		switch {
		case err == nil:
			return nil
		case dynamotable.Refused(err):
			writes = writes[1:] // leave the key, which belongs to another query
		case !dynamotable.Contended(err) || n == maxRetries || s.pause(ctx, n) != nil:
			return dynamotable.Failure(ctx, err, "remove query %s", p.ID)
		}
	}
	return nil
}

// gone reports whether an item is missing or has expired. DynamoDB removes expired items later.
func (s *Store) gone(item dynamotable.Item) bool {
	return len(item) == 0 || dynamotable.Read(item).OptionalInt64(dynamotable.Expires) <= s.now().Unix()
}

// Package documentdynamo stores documents in the deployment's DynamoDB table. A version is two items that never change:
// its description and its text. A third item per document holds the newest number. One transaction writes all three, so
// versions are complete and their numbers are unique and without gaps. The first version of a document with a name also
// adds the configuration to the list of those with documents of its kind.
package documentdynamo

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/fault"
)

// Store implements document.Store over a table.
type Store struct {
	// Pause waits before repetition n of a write, counted from 0.
	Pause func(ctx context.Context, n int) error

	client *dynamodb.Client
	table  string
}

var _ document.Store = (*Store)(nil)

// New returns a store over a table with the schema of package dynamotable.
func New(client *dynamodb.Client, table string) *Store {
	return &Store{dynamotable.Pause, client, table}
}

// Newest implements document.Store. It reads the last item with a text. The sort keys are in the order of the numbers.
func (s *Store) Newest(ctx context.Context, id document.ID) (document.Version, error) {
	q := s.query(partitionOf(id), keysOf(settingsPrefix, id))
	q.Limit, q.ScanIndexForward = aws.Int32(1), aws.Bool(false)
	page, err := s.client.Query(ctx, q)
	if err != nil {
		return document.Version{}, dynamotable.Failure(ctx, err, "read %s", id)
	}
	if len(page.Items) == 0 {
		return document.Version{}, document.NotFound(id, 0)
	}
	return versionOf(page.Items[0])
}

// Version implements document.Store.
func (s *Store) Version(ctx context.Context, id document.ID, number int) (document.Version, error) {
	item, err := s.item(ctx, id, versionKey(settingsPrefix, id, number))
	if err != nil {
		return document.Version{}, dynamotable.Failure(ctx, err, "read version %d of %s", number, id)
	}
	if item == nil {
		return document.Version{}, document.NotFound(id, number)
	}
	return versionOf(item)
}

// Versions implements document.Store.
func (s *Store) Versions(ctx context.Context, id document.ID) ([]document.Info, error) {
	var infos []document.Info
	q := s.query(partitionOf(id), keysOf(infoPrefix, id))
	q.ScanIndexForward = aws.Bool(false)
	err := s.each(ctx, q, fmt.Sprintf("list versions of %s", id), func(item dynamotable.Item) error {
		info, err := infoOf(item)
		infos = append(infos, info)
		return err
	})
	if err != nil {
		return nil, err
	}
	return infos, nil
}

// List implements document.Store.
func (s *Store) List(ctx context.Context, kind document.Kind, config string) ([]document.Named, error) {
	var list []document.Named
	q := s.query(partition(kind, config), headPrefix())
	err := s.each(ctx, q, fmt.Sprintf("list the %ss of %s", kind, config), func(item dynamotable.Item) error {
		v, err := versionOf(item)
		if err != nil || v.Deleted() {
			return err
		}
		r := dynamotable.Read(item)
		name := strings.TrimPrefix(r.String(dynamotable.SortKey), headPrefix())
		list = append(list, document.Named{Name: name, Version: v})
		return r.Err()
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Configurations returns the configurations in which there is, or was, a document of a kind with a name.
func (s *Store) Configurations(ctx context.Context, kind document.Kind) ([]string, error) {
	var list []string
	q := s.query(configurationsOf(kind), configPrefix)
	doing := fmt.Sprintf("list configurations with a %s", kind)
	err := s.each(ctx, q, doing, func(item dynamotable.Item) error {
		r := dynamotable.Read(item)
		list = append(list, strings.TrimPrefix(r.String(dynamotable.SortKey), configPrefix))
		return r.Err()
	})
	return list, err
}

// each calls do with all items of a query.
func (s *Store) each(
	ctx context.Context, q *dynamodb.QueryInput, doing string, do func(dynamotable.Item) error,
) error {
	for pages := dynamodb.NewQueryPaginator(s.client, q); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return dynamotable.Failure(ctx, err, "%s", doing)
		}
		for _, item := range page.Items {
			if err := do(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxRetries is how often a write is retried after a conflict with another transaction.
const maxRetries = 8

// Append implements document.Store.
//
// If the response to a write is lost, the retry finds the version already written. A random mark in the item identifies
// the call that wrote it, so that Append recognizes its own version and does not report a conflict.
func (s *Store) Append(ctx context.Context, id document.ID, v document.Version) error {
	if v.Number < 1 {
		return document.Taken(id, v.Number)
	}
	mark := rand.Text()
	err := s.write(ctx, id, v, mark)
	for n := 0; n < maxRetries && dynamotable.Contended(err) && s.Pause(ctx, n) == nil; n++ {
		err = s.write(ctx, id, v, mark)
	}
	if err == nil {
		return nil
	}
	failed := dynamotable.Failure(ctx, err, "write version %d of %s", v.Number, id)
	if !dynamotable.Refused(err) && fault.KindOf(failed) != fault.Unavailable {
		return failed
	}
	written, readErr := s.item(ctx, id, versionKey(infoPrefix, id, v.Number))
	switch {
	case readErr != nil:
		return dynamotable.Failure(ctx, readErr, "check whether version %d of %s was written (%v)", v.Number, id, err)
	case written != nil && dynamotable.Read(written).String(markAttribute) == mark:
		return nil
	case dynamotable.Refused(err):
		return document.Taken(id, v.Number)
	}
	return failed
}

// write runs the transaction. The SDK adds a token, so that its own retries have no further effect.
func (s *Store) write(ctx context.Context, id document.ID, v document.Version, mark string) error {
	head := &types.Put{
		TableName:                aws.String(s.table),
		Item:                     headItem(id, v),
		ExpressionAttributeNames: map[string]string{"#number": numberAttribute},
	}
	if v.Number == 1 {
		head.ConditionExpression = aws.String("attribute_not_exists(#number)")
	} else {
		head.ConditionExpression = aws.String("#number = :before")
		head.ExpressionAttributeValues = dynamotable.Item{":before": dynamotable.Number(int64(v.Number - 1))}
	}
	writes := []types.TransactWriteItem{
		{Put: head},
		{Put: s.add(infoItem(id, v.Info, mark))},
		{Put: s.add(textItem(id, versionKey(settingsPrefix, id, v.Number), v))},
	}
	if id.Name != "" && v.Number == 1 {
		writes = append(writes, types.TransactWriteItem{
			Put: &types.Put{TableName: aws.String(s.table), Item: configItem(id)},
		})
	}
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	return err
}

// add returns the write of an item that must not exist: versions never change.
func (s *Store) add(item dynamotable.Item) *types.Put {
	return &types.Put{
		TableName: aws.String(s.table), Item: item,
		ConditionExpression: aws.String(fmt.Sprintf("attribute_not_exists(%s)", dynamotable.PartitionKey)),
	}
}

// item returns an item, or nil if it does not exist.
func (s *Store) item(ctx context.Context, id document.ID, key string) (dynamotable.Item, error) {
	got, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.table), Key: dynamotable.Key(partitionOf(id), key), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return got.Item, nil
}

// query returns the query for items whose sort key has a prefix, in the order of the keys.
func (s *Store) query(pk, prefix string) *dynamodb.QueryInput {
	const condition = dynamotable.PartitionKey + " = :pk AND begins_with(" + dynamotable.SortKey + ", :prefix)"
	return &dynamodb.QueryInput{
		TableName:              aws.String(s.table),
		KeyConditionExpression: aws.String(condition),
		ExpressionAttributeValues: dynamotable.Item{
			":pk":     dynamotable.String(pk),
			":prefix": dynamotable.String(prefix),
		},
		ConsistentRead: aws.Bool(true),
	}
}

// Package statedynamo stores the ledger and the state of a lake in the DynamoDB table.
//
//	pk, sk     the key: ingest#<family> and a sort key of package cloud, or
//	           ingest#source#<source> and family, or lake and state, or lake and columns or fresh, or
//	           sizes and a day, or
//	           suspects and object#<name> or hours#<first>#<last>, or arrived and the key of a raw log, or
//	           reconcile and state, or
//	           ingest#marks#<slot> and source#<source>#<generation>
//	revision   N, increased by every write
//	expires    N, only of marks, of days, and of the first lines that earlier versions must not import
//	body       S, JSON
package statedynamo

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/lakestate"
)

const (
	revision = "revision"
	body     = "body"
)

// Table is a lakestate.Table in DynamoDB.
type Table struct {
	client *dynamodb.Client
	name   string
}

var _ lakestate.Table = (*Table)(nil)

// New returns a Table over the DynamoDB table with that name, which must exist.
func New(client *dynamodb.Client, name string) *Table { return &Table{client, name} }

// Get reads an item with a consistent read.
func (t *Table) Get(ctx context.Context, key lakestate.Key) (lakestate.Item, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, Key: dynamotable.Key(key.Partition, key.Sort), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return lakestate.Item{}, dynamotable.Failure(ctx, err, "read item %s %s", key.Partition, key.Sort)
	}
	if out.Item == nil {
		return lakestate.Item{Key: key}, nil
	}
	return itemOf(out.Item)
}

// List requests pages of up to 1 MB with consistent reads.
func (t *Table) List(ctx context.Context, partition, prefix string) ([]lakestate.Item, error) {
	var items []lakestate.Item
	found := t.query(ctx, partition, "begins_with(#sk, :prefix)", dynamotable.Item{
		":prefix": dynamotable.String(prefix),
	})
	for item, err := range found {
		if err != nil {
			return nil, dynamotable.Failure(ctx, err, "list items %s %s", partition, prefix)
		}
		items = append(items, item)
	}
	return items, nil
}

// Between requests pages of up to 1 MB with consistent reads.
func (t *Table) Between(ctx context.Context, partition, from, to string) iter.Seq2[lakestate.Item, error] {
	return func(yield func(lakestate.Item, error) bool) {
		found := t.query(ctx, partition, "#sk BETWEEN :from AND :to", dynamotable.Item{
			":from": dynamotable.String(from), ":to": dynamotable.String(to),
		})
		for item, err := range found {
			if err != nil {
				yield(lakestate.Item{}, dynamotable.Failure(ctx, err, "list items %s from %s to %s", partition, from, to))
				return
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

// query yields the items of a partition whose sort keys, #sk, meet a condition with those values.
func (t *Table) query(
	ctx context.Context, partition, condition string, values dynamotable.Item,
) iter.Seq2[lakestate.Item, error] {
	values[":pk"] = dynamotable.String(partition)
	return func(yield func(lakestate.Item, error) bool) {
		pages := dynamodb.NewQueryPaginator(t.client, &dynamodb.QueryInput{
			TableName: &t.name, ConsistentRead: aws.Bool(true),
			KeyConditionExpression: aws.String("#pk = :pk AND " + condition),
			ExpressionAttributeNames: map[string]string{
				"#pk": dynamotable.PartitionKey,
				"#sk": dynamotable.SortKey,
			},
			ExpressionAttributeValues: values,
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(lakestate.Item{}, err)
				return
			}
			for _, found := range page.Items {
				item, err := itemOf(found)
				if !yield(item, err) || err != nil {
					return
				}
			}
		}
	}
}

// Write writes all changes in one transaction. The SDK adds a token, so that DynamoDB executes a transaction once when
// the SDK sends it again after a lost response.
func (t *Table) Write(ctx context.Context, changes ...lakestate.Change) error {
	puts := make([]types.TransactWriteItem, len(changes))
	for i, c := range changes {
		puts[i].Put = t.put(c)
	}
	_, err := t.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: puts})
	switch {
	case err == nil:
		return nil
	case dynamotable.Refused(err) || dynamotable.Contended(err):
		return lakestate.ErrConflict
	}
	return dynamotable.Failure(ctx, err, "write item %s %s", changes[0].Key.Partition, changes[0].Key.Sort)
}

func (t *Table) put(c lakestate.Change) *types.Put {
	put := &types.Put{
		TableName:                &t.name,
		ExpressionAttributeNames: map[string]string{"#r": revision},
		ConditionExpression:      aws.String("attribute_not_exists(#r)"),
		Item: dynamotable.NewItem(c.Key.Partition, c.Key.Sort, dynamotable.Item{
			revision: dynamotable.Number(c.Seen + 1), body: dynamotable.String(string(c.Body)),
		}),
	}
	if !c.Expires.IsZero() {
		put.Item[dynamotable.Expires] = dynamotable.Number(c.Expires.Unix())
	}
	if c.Seen > 0 {
		put.ConditionExpression = aws.String("#r = :seen")
		put.ExpressionAttributeValues = dynamotable.Item{":seen": dynamotable.Number(c.Seen)}
	}
	return put
}

func itemOf(found dynamotable.Item) (lakestate.Item, error) {
	r := dynamotable.Read(found)
	item := lakestate.Item{
		Key:      lakestate.Key{Partition: r.String(dynamotable.PartitionKey), Sort: r.String(dynamotable.SortKey)},
		Revision: r.Int64(revision),
		Body:     []byte(r.String(body)),
	}
	return item, r.Err()
}

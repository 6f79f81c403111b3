// Package tabledynamo is the DynamoDB table of a deployment.
package tabledynamo

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/table"
)

// Table is a table.Table in DynamoDB.
type Table struct {
	// Pause waits before repetition n of a write, counted from 0.
	Pause func(ctx context.Context, n int) error

	client *dynamodb.Client
	name   string
}

var _ table.Table = (*Table)(nil)

// New returns a Table over the DynamoDB table with that name, which must exist.
func New(client *dynamodb.Client, name string) *Table {
	return &Table{Pause, client, name}
}

// Get reads an item with a consistent read.
func (t *Table) Get(ctx context.Context, key table.Key) (table.Item, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, Key: Key(key.Partition, key.Sort), ConsistentRead: aws.Bool(true),
	})
	switch {
	case err != nil:
		return table.Item{}, failure(ctx, err)
	case out.Item == nil:
		return table.Item{Key: key}, nil
	}
	return itemOf(out.Item)
}

// Range requests pages of up to 1 MB with consistent reads.
func (t *Table) Range(ctx context.Context, r table.Range) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		left := r.Limit
		for pages := dynamodb.NewQueryPaginator(t.client, t.query(r)); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(table.Item{}, failure(ctx, err))
				return
			}
			for _, found := range page.Items {
				item, err := itemOf(found)
				if !yield(item, err) || err != nil {
					return
				}
				if left--; left == 0 {
					return
				}
			}
		}
	}
}

func (t *Table) query(r table.Range) *dynamodb.QueryInput {
	condition, values := "#pk = :pk", item{":pk": attribute(r.Partition)}
	names := map[string]string{"#pk": PartitionKey}
	switch {
	case r.Prefix != "":
		condition += " AND begins_with(#sk, :prefix)"
		values[":prefix"] = attribute(r.Prefix)
	case r.From != "" || r.To != "":
		condition += " AND #sk BETWEEN :from AND :to"
		values[":from"], values[":to"] = attribute(r.From), attribute(r.To)
	}
	if len(values) > 1 {
		names["#sk"] = SortKey
	}
	q := &dynamodb.QueryInput{
		TableName: &t.name, ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(!r.Backwards),
		KeyConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}
	if r.Limit > 0 {
		q.Limit = aws.Int32(int32(min(r.Limit, maxLimit)))
	}
	return q
}

const (
	maxLimit   = 1000 // items of a page
	maxRetries = 8    // of a write that conflicts with another transaction
)

// Write writes all changes in one transaction. The SDK adds a token, so that DynamoDB executes a transaction once when
// the SDK sends it again after a lost response.
func (t *Table) Write(ctx context.Context, changes ...table.Change) error {
	writes := make([]types.TransactWriteItem, len(changes))
	for i, c := range changes {
		writes[i] = t.write(c)
	}
	for n := 0; ; n++ {
		_, err := t.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
		switch {
		case err == nil:
			return nil
		case refused(err):
			return table.ErrConflict
		case !contended(err) || n == maxRetries || t.Pause(ctx, n) != nil:
			return failure(ctx, err)
		}
	}
}

func (t *Table) write(c table.Change) types.TransactWriteItem {
	condition, names, values := expressionOf(c.When)
	if c.Attributes == nil {
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: &t.name, Key: Key(c.Key.Partition, c.Key.Sort), ConditionExpression: condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}
	}
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &t.name, Item: itemFor(c.Key, c.Attributes), ConditionExpression: condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}}
}

// expressionOf returns the expression of a condition, or nil if it always holds, with its names and values.
func expressionOf(c table.Condition) (expression *string, names map[string]string, values item) {
	const absent, exists = "attribute_not_exists(#pk)", "attribute_exists(#pk)"
	pk := map[string]string{"#pk": PartitionKey}
	switch {
	case c.Attribute == "" && !c.Absent:
		return nil, nil, nil
	case c.Attribute == "":
		return aws.String(absent), pk, nil
	case c.Is == nil && c.Absent:
		return aws.String("attribute_not_exists(#a)"), map[string]string{"#a": c.Attribute}, nil
	case c.Is == nil:
		pk["#a"] = c.Attribute
		return aws.String(exists + " AND attribute_not_exists(#a)"), pk, nil
	}
	values = item{":is": attribute(c.Is)}
	if c.Absent {
		pk["#a"] = c.Attribute
		return aws.String(absent + " OR #a = :is"), pk, values
	}
	return aws.String("#a = :is"), map[string]string{"#a": c.Attribute}, values
}

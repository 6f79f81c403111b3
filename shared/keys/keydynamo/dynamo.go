// Package keydynamo stores API keys in the deployment's DynamoDB table.
package keydynamo

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/keys"
)

// Store implements keys.Store over a table with the schema of package dynamotable.
type Store struct {
	client *dynamodb.Client
	table  string
}

var _ keys.Store = (*Store)(nil)

// New returns a store over a table.
func New(client *dynamodb.Client, table string) *Store { return &Store{client, table} }

// Create implements keys.Store. If the response to a write is lost, the retry finds the same key and succeeds.
func (s *Store) Create(ctx context.Context, k keys.Key) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           aws.String(s.table),
		Item:                                itemOf(k),
		ConditionExpression:                 aws.String("attribute_not_exists(" + dynamotable.PartitionKey + ")"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var exists *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &exists):
		return dynamotable.Failure(ctx, err, "create key %s", k.ID)
	}
	before, err := keyOf(exists.Item)
	if err != nil {
		return err
	}
	if before.Hash != k.Hash {
		return keys.Taken(k.ID)
	}
	return nil
}

// List implements keys.Store.
func (s *Store) List(ctx context.Context) ([]keys.Key, error) {
	var list []keys.Key
	for pages := dynamodb.NewQueryPaginator(s.client, &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		KeyConditionExpression:    aws.String(dynamotable.PartitionKey + " = :pk"),
		ExpressionAttributeValues: dynamotable.Item{":pk": dynamotable.String(partition)},
		ConsistentRead:            aws.Bool(true),
	}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, dynamotable.Failure(ctx, err, "list keys")
		}
		for _, item := range page.Items {
			k, err := keyOf(item)
			if err != nil {
				return nil, err
			}
			list = append(list, k)
		}
	}
	slices.SortStableFunc(list, func(a, b keys.Key) int {
		if byAge := a.Created.Compare(b.Created); byAge != 0 {
			return byAge
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, nil
}

// Find implements keys.Store.
func (s *Store) Find(ctx context.Context, id string) (keys.Key, error) {
	got, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.table), Key: dynamotable.Key(partition, id), ConsistentRead: aws.Bool(true),
	})
	switch {
	case err != nil:
		return keys.Key{}, dynamotable.Failure(ctx, err, "find key %s", id)
	case got.Item == nil:
		return keys.Key{}, keys.NotFound(id)
	}
	return keyOf(got.Item)
}

// Revoke implements keys.Store.
func (s *Store) Revoke(ctx context.Context, id string, at time.Time) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 aws.String(s.table),
		Key:                       dynamotable.Key(partition, id),
		ConditionExpression:       aws.String("attribute_exists(" + dynamotable.PartitionKey + ")"),
		UpdateExpression:          aws.String("SET #revoked = if_not_exists(#revoked, :at)"),
		ExpressionAttributeNames:  map[string]string{"#revoked": revokedAttribute},
		ExpressionAttributeValues: dynamotable.Item{":at": dynamotable.Number(at.UnixMilli())},
	})
	switch {
	case err == nil:
		return nil
	case dynamotable.Refused(err):
		return keys.NotFound(id)
	}
	return dynamotable.Failure(ctx, err, "revoke key %s", id)
}

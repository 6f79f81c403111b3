// Package planetdynamo stores planets in the deployment's DynamoDB table. A version is two items that never change: its
// description and its settings. A third item per configuration holds the newest number. One transaction writes all
// three, so versions are complete and their numbers are unique and without gaps.
package planetdynamo

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
)

// Store implements planet.Store over a table.
//
// A new deployment has the default planet in planet.FirstConfig although its table is empty: until the first write,
// reads return the default planet as version 1. The first write stores it. So functions that only read need no
// permission to write.
type Store struct {
	client *dynamodb.Client
	table  string
	now    func() time.Time
	pause  func(ctx context.Context, n int) error
}

var _ planet.Store = (*Store)(nil)

// New returns a store over a table with the schema of package dynamotable. now is the clock for the first planet.
func New(client *dynamodb.Client, table string, now func() time.Time) *Store {
	return &Store{client, table, now, dynamotable.Pause}
}

// first returns the planet of a new deployment.
func (s *Store) first() planet.Version {
	return planet.NewVersion(1, planet.Default(), "orrery", s.now())
}

// Newest implements planet.Store.
func (s *Store) Newest(ctx context.Context, config string) (planet.Version, error) {
	v, err := s.newest(ctx, config)
	if config == planet.FirstConfig && fault.KindOf(err) == fault.NotFound {
		return s.first(), nil
	}
	return v, err
}

// newest reads the last item of settings. The sort keys are in the order of the numbers.
func (s *Store) newest(ctx context.Context, config string) (planet.Version, error) {
	q := s.query(config, settingsPrefix)
	q.Limit = aws.Int32(1)
	page, err := s.client.Query(ctx, q)
	if err != nil {
		return planet.Version{}, dynamotable.Failure(ctx, err, "read the planet of %s", config)
	}
	if len(page.Items) == 0 {
		return planet.Version{}, planet.NotFound(config, 0)
	}
	return versionOf(page.Items[0])
}

// Version implements planet.Store.
func (s *Store) Version(ctx context.Context, config string, number int) (planet.Version, error) {
	v, err := s.version(ctx, config, number)
	if config == planet.FirstConfig && number == 1 && fault.KindOf(err) == fault.NotFound {
		return s.first(), nil
	}
	return v, err
}

func (s *Store) version(ctx context.Context, config string, number int) (planet.Version, error) {
	item, err := s.item(ctx, config, settingsKey(number))
	if err != nil {
		return planet.Version{}, dynamotable.Failure(ctx, err, "read version %d of the planet of %s", number, config)
	}
	if item == nil {
		return planet.Version{}, planet.NotFound(config, number)
	}
	return versionOf(item)
}

// Versions implements planet.Store.
func (s *Store) Versions(ctx context.Context, config string) ([]planet.Info, error) {
	infos, err := s.versions(ctx, config)
	if config == planet.FirstConfig && err == nil && len(infos) == 0 {
		return []planet.Info{s.first().Info}, nil
	}
	return infos, err
}

func (s *Store) versions(ctx context.Context, config string) ([]planet.Info, error) {
	var infos []planet.Info
	for pages := dynamodb.NewQueryPaginator(s.client, s.query(config, infoPrefix)); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, dynamotable.Failure(ctx, err, "list versions of the planet of %s", config)
		}
		for _, item := range page.Items {
			info, err := infoOf(item)
			if err != nil {
				return nil, err
			}
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// Append implements planet.Store.
func (s *Store) Append(ctx context.Context, config string, v planet.Version) error {
	err := s.append(ctx, config, v)
	if config != planet.FirstConfig || v.Number != 2 || fault.KindOf(err) != fault.Conflict {
		return err
	}
	// Version 1 may not have been stored yet. Several writers may try to store it; one succeeds.
	if err := s.append(ctx, config, s.first()); err != nil && fault.KindOf(err) != fault.Conflict {
		return err
	}
	return s.append(ctx, config, v)
}

// maxRetries is how often a write is retried after a conflict with another transaction.
const maxRetries = 8

// append writes a version.
//
// If the response to a write is lost, the retry finds the version already written. A random mark in the item identifies
// the call that wrote it, so that append recognizes its own version and does not report a conflict.
func (s *Store) append(ctx context.Context, config string, v planet.Version) error {
	if v.Number < 1 {
		return planet.Taken(config, v.Number)
	}
	mark := rand.Text()
	err := s.write(ctx, config, v, mark)
	for n := 0; n < maxRetries && dynamotable.Contended(err) && s.pause(ctx, n) == nil; n++ {
		err = s.write(ctx, config, v, mark)
	}
	if err == nil {
		return nil
	}
	failed := dynamotable.Failure(ctx, err, "write version %d of the planet of %s", v.Number, config)
	if !dynamotable.Refused(err) && fault.KindOf(failed) != fault.Unavailable {
		return failed
	}
	written, readErr := s.item(ctx, config, infoKey(v.Number))
	switch {
	case readErr != nil:
		return dynamotable.Failure(ctx, readErr, "check whether version %d of the planet of %s was written (%v)",
			v.Number, config, err)
	case written != nil && dynamotable.Read(written).String(markAttribute) == mark:
		return nil
	case dynamotable.Refused(err):
		return planet.Taken(config, v.Number)
	}
	return failed
}

// write runs the transaction. The SDK adds a token, so that its own retries have no further effect.
func (s *Store) write(ctx context.Context, config string, v planet.Version, mark string) error {
	head := &types.Put{
		TableName:                aws.String(s.table),
		Item:                     headItem(config, v.Number),
		ExpressionAttributeNames: map[string]string{"#number": numberAttribute},
	}
	if v.Number == 1 {
		head.ConditionExpression = aws.String("attribute_not_exists(#number)")
	} else {
		head.ConditionExpression = aws.String("#number = :before")
		head.ExpressionAttributeValues = dynamotable.Item{":before": dynamotable.Number(int64(v.Number - 1))}
	}
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			{Put: head},
			{Put: s.add(infoItem(config, v.Info, mark))},
			{Put: s.add(settingsItem(config, v))},
		},
	})
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
func (s *Store) item(ctx context.Context, config, key string) (dynamotable.Item, error) {
	got, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.table), Key: dynamotable.Key(partition(config), key), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return got.Item, nil
}

// query returns the query for items whose sort key has a prefix, newest first.
func (s *Store) query(config, prefix string) *dynamodb.QueryInput {
	const condition = dynamotable.PartitionKey + " = :pk AND begins_with(" + dynamotable.SortKey + ", :prefix)"
	return &dynamodb.QueryInput{
		TableName:              aws.String(s.table),
		KeyConditionExpression: aws.String(condition),
		ExpressionAttributeValues: dynamotable.Item{
			":pk":     dynamotable.String(partition(config)),
			":prefix": dynamotable.String(prefix),
		},
		ScanIndexForward: aws.Bool(false),
		ConsistentRead:   aws.Bool(true),
	}
}

// Package runsdynamo stores runs of scheduled reports in the deployment's DynamoDB table, and the files of reports that
// are made but not yet delivered in object storage.
//
// A run is an item, an item in the list of the runs of its report, and, until it has ended, an item in the list of
// unfinished runs. Each of them has the whole run. One transaction writes all of them, and its condition is the revision
// of the run. Files are stored before the transaction, under names that follow from their contents. So writers that race
// do not replace files of each other, and the run has the files of the writer that succeeds.
package runsdynamo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/report/runs"
)

// Folder is the folder of the files. A rule of the bucket removes those that are left after a crash.
const Folder = "_reports/"

// Store implements runs.Store.
type Store struct {
	// Pause waits before repetition n of a write, counted from 0.
	Pause func(ctx context.Context, n int) error

	client *dynamodb.Client
	table  string
	files  blob.Store
}

var _ runs.Store = (*Store)(nil)

// New returns a store over a table with the schema of package dynamotable. files is the bucket of the files; it is nil
// for a program that makes no reports.
func New(client *dynamodb.Client, table string, files blob.Store) *Store {
	return &Store{dynamotable.Pause, client, table, files}
}

// Create implements runs.Store.
func (s *Store) Create(ctx context.Context, r runs.Run) error {
	e := entry{Run: r, dueMs: r.Due.UnixMilli(), scheduled: r.By == ""}
	items, err := e.items()
	if err != nil {
		return err
	}
	items.run.condition = "attribute_not_exists(" + dynamotable.PartitionKey + ")"
	writes := []types.TransactWriteItem{s.put(items.run), s.put(items.listed)}
	if !r.State.Ended() {
		writes = append(writes, s.put(items.unfinished))
	}
	if err := s.write(ctx, writes); err != nil {
		if dynamotable.Refused(err) {
			return runs.Exists(r.ID)
		}
		return dynamotable.Failure(ctx, err, "create run %s", r.ID)
	}
	return nil
}

// Run implements runs.Store.
func (s *Store) Run(ctx context.Context, id string) (runs.Run, error) {
	e, err := s.entry(ctx, id)
	return e.Run, err
}

// entry returns a run with what is stored besides.
func (s *Store) entry(ctx context.Context, id string) (entry, error) {
	got, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: dynamotable.Key(runPrefix+id, runKey), ConsistentRead: aws.Bool(true),
	})
	switch {
	case err != nil:
		return entry{}, dynamotable.Failure(ctx, err, "read run %s", id)
	case got.Item == nil:
		return entry{}, runs.NotFound(id)
	}
	return entryOf(got.Item)
}

// List implements runs.Store.
func (s *Store) List(ctx context.Context, config, report string, limit int) ([]runs.Run, error) {
	q := s.query(listOf(config, report))
	q.ScanIndexForward, q.Limit = aws.Bool(false), aws.Int32(int32(min(limit, 1000)))
	return s.read(ctx, q, limit)
}

// Unfinished implements runs.Store.
func (s *Store) Unfinished(ctx context.Context) ([]runs.Run, error) {
	return s.read(ctx, s.query(unfinishedPartition), 0)
}

// read returns the runs that a query finds, at most limit if it is not 0.
func (s *Store) read(ctx context.Context, q *dynamodb.QueryInput, limit int) ([]runs.Run, error) {
	var list []runs.Run
	for pages := dynamodb.NewQueryPaginator(s.client, q); pages.HasMorePages() && (limit == 0 || len(list) < limit); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, dynamotable.Failure(ctx, err, "list runs")
		}
		for _, item := range page.Items {
			e, err := entryOf(item)
			if err != nil {
				return nil, err
			}
			list = append(list, e.Run)
		}
	}
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil
}

// Latest implements runs.Store.
func (s *Store) Latest(ctx context.Context, config, report string) (time.Time, error) {
	q := s.query(listOf(config, report))
	q.ScanIndexForward = aws.Bool(false)
	q.FilterExpression = aws.String(scheduledAttribute + " = :yes")
	q.ExpressionAttributeValues[":yes"] = dynamotable.Number(1)
	q.ProjectionExpression = aws.String(dueAttribute)
	q.Limit = aws.Int32(20) // before the filter; few of the latest runs are requested ones
	for pages := dynamodb.NewQueryPaginator(s.client, q); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return time.Time{}, dynamotable.Failure(ctx, err, "find the latest run of report %s", report)
		}
		if len(page.Items) > 0 {
			r := dynamotable.Read(page.Items[0])
			return time.UnixMilli(r.Int64(dueAttribute)).UTC(), r.Err()
		}
	}
	return time.Time{}, nil
}

// query returns the query for the items under a partition key.
func (s *Store) query(partition string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String(dynamotable.PartitionKey + " = :pk"),
		ExpressionAttributeValues: dynamotable.Item{":pk": dynamotable.String(partition)},
	}
}

// Update implements runs.Store.
func (s *Store) Update(ctx context.Context, r runs.Run, files ...runs.File) error {
	before, err := s.entry(ctx, r.ID)
	if isNotFound(err) || err == nil && before.Revision != r.Revision {
		return runs.Changed(r.ID, r.Revision)
	}
	if err != nil {
		return err
	}
	after := entry{Run: r, dueMs: before.dueMs, scheduled: before.scheduled}
	after.Revision++
	if r.By == "" { // the time of a scheduled run stays that of its schedule when it is requested again
		after.dueMs, after.scheduled = r.Due.UnixMilli(), true
	}
	if r.State == runs.Rendered {
		if after.files, err = s.add(ctx, before, files); err != nil {
			return err
		}
	}
	writes, err := s.change(before, after)
	if err != nil {
		return err
	}
	if err := s.write(ctx, writes); err != nil {
		if dynamotable.Refused(err) {
			return runs.Changed(r.ID, r.Revision)
		}
		return dynamotable.Failure(ctx, err, "update run %s", r.ID)
	}
	if r.State != runs.Rendered && len(before.files) > 0 && s.files != nil {
		// The run has no files any more. If this fails, the rule of the bucket removes them.
		_ = s.files.Delete(ctx, names(r.ID, before.files)...)
	}
	return nil
}

// change returns the writes that replace a run.
func (s *Store) change(before, after entry) ([]types.TransactWriteItem, error) {
	was, err := before.items()
	if err != nil {
		return nil, err
	}
	is, err := after.items()
	if err != nil {
		return nil, err
	}
	is.run.condition = revisionAttribute + " = :before"
	is.run.values = dynamotable.Item{":before": dynamotable.Number(int64(before.Revision))}
	writes := []types.TransactWriteItem{s.put(is.run), s.put(is.listed)}
	moved := before.dueMs != after.dueMs
	if moved {
		writes = append(writes, s.remove(was.listed))
	}
	if !before.State.Ended() && (moved || after.State.Ended()) {
		writes = append(writes, s.remove(was.unfinished))
	}
	if !after.State.Ended() {
		writes = append(writes, s.put(is.unfinished))
	}
	return writes, nil
}

// add stores files of a run, and returns all that it has then.
func (s *Store) add(ctx context.Context, before entry, files []runs.File) ([]file, error) {
	id, list := before.ID, slices.Clone(before.files)
	for _, f := range files {
		if s.files == nil {
			return nil, errors.New("runsdynamo: files need a bucket")
		}
		sum := sha256.Sum256(f.Content)
		one := file{Delivery: f.Delivery, Name: f.Name, Sum: hex.EncodeToString(sum[:]), Revision: before.Revision + 1}
		if err := s.files.Put(ctx, one.object(id), bytes.NewReader(f.Content), blob.Always); err != nil {
			return nil, fmt.Errorf("add a file of run %s: %w", id, err)
		}
		list = slices.DeleteFunc(list, func(f file) bool { return f.Delivery == one.Delivery && f.Name == one.Name })
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b file) int {
		if byDelivery := a.Delivery - b.Delivery; byDelivery != 0 {
			return byDelivery
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list, nil
}

// Files implements runs.Store.
func (s *Store) Files(ctx context.Context, id string) ([]runs.File, error) {
	e, err := s.entry(ctx, id)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []runs.File
	for _, f := range e.files {
		content, err := s.content(ctx, f, id)
		if err != nil {
			return nil, fmt.Errorf("read %s of run %s: %w", f.Name, id, err)
		}
		list = append(list, runs.File{Delivery: f.Delivery, Name: f.Name, Content: content})
	}
	return list, nil
}

// content reads a file, and compares it with its sum.
func (s *Store) content(ctx context.Context, f file, id string) ([]byte, error) {
	if s.files == nil {
		return nil, errors.New("runsdynamo: files need a bucket")
	}
	body, _, err := s.files.Get(ctx, f.object(id), "", 0)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil, fmt.Errorf("%w: %w", runs.ErrLost, err)
	case err != nil:
		return nil, err
	}
	content, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != f.Sum {
		return nil, fmt.Errorf("%w: %d bytes do not have the sum %s", runs.ErrLost, len(content), f.Sum)
	}
	return content, nil
}

// maxRetries is how often a write is repeated after a conflict with another transaction.
const maxRetries = 8

// write runs a transaction. The SDK adds a token, so that its own repetitions have no further effect.
func (s *Store) write(ctx context.Context, writes []types.TransactWriteItem) error {
	for n := 0; ; n++ {
		_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
		if err == nil || !dynamotable.Contended(err) || n == maxRetries || s.Pause(ctx, n) != nil {
			return err
		}
	}
}

func (s *Store) put(w written) types.TransactWriteItem {
	put := &types.Put{TableName: &s.table, Item: w.item, ExpressionAttributeValues: w.values}
	if w.condition != "" {
		put.ConditionExpression = &w.condition
	}
	return types.TransactWriteItem{Put: put}
}

func (s *Store) remove(w written) types.TransactWriteItem {
	key := dynamotable.Item{
		dynamotable.PartitionKey: w.item[dynamotable.PartitionKey], dynamotable.SortKey: w.item[dynamotable.SortKey],
	}
	return types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: key}}
}

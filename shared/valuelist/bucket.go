package valuelist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lake"
)

// In returns the objects of lists in the bucket of a lake. Athena reads them as partitions of lake.ListTable.
func In(bucket blob.Store) Objects { return inBucket{bucket} }

type inBucket struct{ blob.Store }

func nameOf(digest string) string { return "lake/" + lake.ListName(digest) }

// Put implements Objects.
func (b inBucket) Put(ctx context.Context, digest string, content []byte) error {
	err := b.Store.Put(ctx, nameOf(digest), bytes.NewReader(content), blob.IfAbsent)
	if err != nil && !errors.Is(err, blob.ErrExists) {
		return fmt.Errorf("write the values of a list: %w", err)
	}
	return nil
}

// Get implements Objects.
func (b inBucket) Get(ctx context.Context, digest string) ([]byte, error) {
	r, err := blob.Open(ctx, b.Store, nameOf(digest), "")
	if err != nil {
		return nil, fmt.Errorf("read the values of a list: %w", err)
	}
	content, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("read the values of a list: %w", err)
	}
	return content, nil
}

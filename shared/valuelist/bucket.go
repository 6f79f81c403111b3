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

// In returns the objects of lists in the bucket of a lake: beside its folder, because the objects of a lake may expire. Athena
// reads them as partitions of lake.ListTable.
func In(bucket blob.Store) Objects { return inBucket{bucket} }

type inBucket struct{ blob.Store }

// Put implements Objects.
func (b inBucket) Put(ctx context.Context, digest string, content []byte) error {
	err := b.Store.Put(ctx, lake.ListName(digest), bytes.NewReader(content), blob.IfAbsent)
	if err != nil && !errors.Is(err, blob.ErrExists) {
		return fmt.Errorf("write the values of a list: %w", err)
	}
	return nil
}

// Get implements Objects.
func (b inBucket) Get(ctx context.Context, digest string) ([]byte, error) {
	r, err := blob.Open(ctx, b.Store, lake.ListName(digest), "")
	if err != nil {
		return nil, fmt.Errorf("read the values of a list: %w", err)
	}
	content, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("read the values of a list: %w", err)
	}
	return content, nil
}

package engine

import (
	"context"
	"fmt"

	"github.com/orrery/orrery/shared/lake"
)

// Index lists the objects that contain the data at this moment.
type Index interface {
	// Objects returns the objects of the partitions from…to, both included, sorted by partition and path.
	// A reader that does not find an object should list the objects again: compaction has replaced it.
	Objects(ctx context.Context, from, to lake.Partition) ([]lake.Object, error)
	// Extent returns the period that all objects together cover.
	Extent(ctx context.Context) (lake.Extent, error)
}

// ObjectError reports that one object cannot be read because it is missing or damaged.
type ObjectError struct {
	Path string
	Err  error
}

func (e *ObjectError) Error() string { return fmt.Sprintf("read object %s: %v", e.Path, e.Err) }

func (e *ObjectError) Unwrap() error { return e.Err }

// CheckSize returns an error if a file does not have the size of an object. Then it is another file under the object's
// name. An object of unknown size has 0 bytes.
func CheckSize(o lake.Object, size int64) error {
	if o.Bytes == 0 || size == o.Bytes {
		return nil
	}
	return fmt.Errorf("the file has %d bytes, but the object has %d: it was replaced", size, o.Bytes)
}

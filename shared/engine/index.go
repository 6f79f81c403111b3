package engine

import (
	"context"
	"fmt"

	"github.com/orrery/orrery/shared/lake"
)

// Index lists the objects that hold the data at this moment.
type Index interface {
	// Objects lists the objects of the partitions from…to, both included, by partition and path.
	// A reader that finds an object gone asks once more: compaction has replaced it.
	Objects(ctx context.Context, from, to lake.Partition) ([]lake.Object, error)
	// Extent is the time all objects together cover.
	Extent(ctx context.Context) (lake.Extent, error)
}

// ObjectError is a failure to read one object: it is gone, or damaged.
type ObjectError struct {
	Path string
	Err  error
}

func (e *ObjectError) Error() string { return fmt.Sprintf("read object %s: %v", e.Path, e.Err) }

func (e *ObjectError) Unwrap() error { return e.Err }

package doctor

import (
	"context"
	"errors"
	"fmt"
)

// Coverage is the part of *lists.Engine that ValueLists uses.
type Coverage interface {
	// Coverage returns how many of the newest objects of the lake have lists of values.
	Coverage(ctx context.Context) (listed, of int, err error)
}

// ValueLists checks that the newest objects of the lake have lists of values.
func ValueLists(lists Coverage) Check {
	return Check{
		Name: "lists of values",
		Remedy: "read the logs of ingest and compact: \"no lists of values\" has the cause; objects of an earlier " +
			"version get lists when their hour is compacted; the role must allow s3:GetObject on lake/_values/ and " +
			"s3:ListBucket on lake/fresh/ and lake/compact/",
		Run: func(ctx context.Context) (string, error) {
			listed, of, err := lists.Coverage(ctx)
			switch {
			case err != nil:
				return "", refused(err, "the lists of values in the lake bucket")
			case of == 0:
				return "there are no objects yet", nil
			case listed == 0:
				return "", errors.New("the newest objects have no lists of values")
			}
			return fmt.Sprintf("%d of the newest %d objects have lists of values", listed, of), nil
		},
	}
}

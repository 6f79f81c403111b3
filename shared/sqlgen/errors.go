package sqlgen

import (
	"errors"
	"fmt"
)

// errValues is the error for the shape query.Values.
var errValues = errors.New("values are found without SQL: in the dictionaries of objects, or in the lists beside them")

// ValueError is a value that no SQL text can hold. Binding refuses such values, so a ValueError is a bug.
type ValueError struct{ Reason string }

func (e *ValueError) Error() string { return "value cannot be written as SQL: " + e.Reason }

// LimitError is a valid query that exceeds a limit of the engine.
type LimitError struct {
	What       string // "bytes of SQL", "expressions that cannot be merged"
	Got, Limit int
	List       string // the name of a list of values, which the engine cannot read; "": it is another limit
}

func (e *LimitError) Error() string {
	if e.List != "" {
		return fmt.Sprintf("the engine has no lists of values such as %q: write the values in brackets", e.List)
	}
	return fmt.Sprintf("the query needs %d %s, the engine takes at most %d: use fewer or shorter conditions",
		e.Got, e.What, e.Limit)
}

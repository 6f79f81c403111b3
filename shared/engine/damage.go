package engine

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// DamageError reports that a query failed at an object that seems to be damaged.
type DamageError struct {
	Object   string         // lake.NameOf; "" if the engine does not name it
	From, To lake.Partition // the hours in which the object is; they are equal if Object is set
	Err      error
}

func (e *DamageError) Error() string {
	if e.Object == "" {
		return fmt.Sprintf("an object of the hours %s to %s seems to be damaged: %v", e.From, e.To, e.Err)
	}
	return fmt.Sprintf("object %s seems to be damaged: %v", e.Object, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// DamageReports records objects that seem to be damaged, for compaction to examine.
type DamageReports interface {
	Report(ctx context.Context, e *DamageError) error
}

// damageTexts are parts of the messages with which Trino and Athena report a damaged object, besides HIVE_BAD_DATA.
// The errors have general names, such as HIVE_CANNOT_OPEN_SPLIT and GENERIC_INTERNAL_ERROR.
var damageTexts = []string{
	"Malformed Parquet file",
	"is not a valid Parquet File",
	"Not valid Parquet file",
	"Corrupted Parquet file",
	"can not read class org.apache.parquet.format.",
	"Unknown error occurred during decompression",
}

// objectIn finds the name of an object of the lake in a message that has its URL.
var objectIn = regexp.MustCompile(`\b(?:fresh|compact)/(\d{4}/\d{2}/\d{2}/\d{2})/[A-Za-z0-9_.-]+\.parquet\b`)

// DamageIn returns the damage that an engine reports in the message of a failed query q. It returns nil if the message
// is about something else. name is the engine's name of the error.
func DamageIn(q query.Query, name, message string, err error) *DamageError {
	damaged := strings.HasPrefix(name, "HIVE_BAD_DATA")
	for _, text := range damageTexts {
		damaged = damaged || strings.Contains(message, text)
	}
	if !damaged {
		return nil
	}
	return suspectIn(q, message, err)
}

// UnreadableIn is like DamageIn for failures to read an object that may also be temporary. It returns nil if the
// message does not name the object.
func UnreadableIn(q query.Query, name, message string, err error) *DamageError {
	if !strings.HasPrefix(name, "HIVE_CURSOR_ERROR") {
		return nil
	}
	if e := suspectIn(q, message, err); e.Object != "" {
		return e
	}
	return nil
}

func suspectIn(q query.Query, message string, err error) *DamageError {
	if found := objectIn.FindStringSubmatch(message); found != nil {
		if at, err2 := time.Parse("2006/01/02/15", found[1]); err2 == nil {
			hour := lake.PartitionOf(at.UnixMilli())
			return &DamageError{Object: found[0], From: hour, To: hour, Err: err}
		}
	}
	span := q.Span()
	return &DamageError{From: lake.PartitionOf(span.FromMs), To: lake.PartitionOf(span.ToMs), Err: err}
}

// DamagedError returns the error for a query that fails at a damaged object. Its message names the hours concerned.
func DamagedError(e *DamageError) error {
	from, to := hourText(e.From), hourText(e.To+1)
	if e.Object == "" {
		return fault.Wrap(fault.Damaged, e, "an object with records between %s and %s cannot be read, because it is "+
			"damaged; ask for parts of the period of a day at most to find its hour, which compaction then sets aside",
			from, to)
	}
	return fault.Wrap(fault.Damaged, e, "an object with records between %s and %s cannot be read, because it is "+
		"damaged; compaction will set it aside; until then, ask for a period without this hour", from, to)
}

// UnrecordedDamageError is like DamagedError for a lake without a record of suspects, in which nothing sets damaged
// objects aside.
func UnrecordedDamageError(e *DamageError) error {
	from, to := hourText(e.From), hourText(e.To+1)
	if e.Object == "" {
		return fault.Wrap(fault.Damaged, e, "an object with records between %s and %s cannot be read, because it is "+
			"damaged; ask for parts of the period to find its hour; then copy the objects of that hour again from the "+
			"data directory in which their logs were imported", from, to)
	}
	return fault.Wrap(fault.Damaged, e, "the object %s with records between %s and %s cannot be read, because it is "+
		"damaged; copy it again from the data directory in which its log was imported; until then, ask for a period "+
		"without this hour", e.Object, from, to)
}

func hourText(p lake.Partition) string { return time.UnixMilli(p.Start()).UTC().Format(time.DateTime) }

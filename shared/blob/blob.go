// Package blob is the port to object storage: named objects that are written whole and never altered, only replaced.
// blob/s3 is Amazon S3 and what speaks its protocol, blob/dir a directory; blobtest is the suite that both pass.
package blob

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Errors that callers branch on; find them with errors.Is.
var (
	ErrNotFound = errors.New("there is no such object")
	ErrExists   = errors.New("the object exists")
	ErrChanged  = errors.New("the object was replaced while it was read")
	ErrBroken   = errors.New("the connection broke again and again")
)

// Info is what a store tells of an object without its bytes.
type Info struct {
	Name     string
	Size     int64
	ETag     string    // another one, another content; "" when the store does not tell
	Sum      string    // SHA-256 of the content in hexadecimal digits; "" when the store does not tell
	Modified time.Time // by the store's clock
}

// Condition says when Put may write.
type Condition bool

const (
	Always   Condition = false // replaces what is there
	IfAbsent Condition = true  // ErrExists when there is an object of the name, and it stays
)

// Store holds objects of one bucket. Names are UTF-8, their elements divided by slashes.
//
// What has been written is seen by everybody at once: reads and listings that begin later know it.
type Store interface {
	// Get opens an object at a byte, which may be its end. Info lacks the Sum. version names an older content where the
	// store keeps those; "" is the latest.
	Get(ctx context.Context, name, version string, offset int64) (io.ReadCloser, Info, error)
	// Head tells of an object.
	Head(ctx context.Context, name string) (Info, error)
	// Put writes an object: all of it or, when there is an error, nothing or all of it. The store has compared the
	// SHA-256 of what it got with that of what was sent.
	Put(ctx context.Context, name string, body io.ReadSeeker, when Condition) error
	// Copy makes an object of the content of another, unless there is one of the name: ErrExists.
	Copy(ctx context.Context, from, to string) error
	// List gives the objects whose names begin with a prefix and sort after a name, in the order of their bytes. Infos
	// have name, size and time.
	List(ctx context.Context, prefix, after string) iter.Seq2[Info, error]
	// Delete removes objects; it is no error when there are none of the names.
	Delete(ctx context.Context, names ...string) error
}

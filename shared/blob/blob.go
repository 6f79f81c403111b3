// Package blob is the port to object storage: named objects that are written whole and never changed, only replaced.
// Package blob/s3 implements it for Amazon S3 and servers of its protocol. Package blobtest has an implementation in
// memory and the test suite that every implementation passes.
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
	ErrNotFound = errors.New("the object does not exist")
	ErrExists   = errors.New("the object exists already")
	ErrChanged  = errors.New("the object was replaced while it was read")
	ErrBroken   = errors.New("the connection broke too often")
)

// Info describes an object without its content.
type Info struct {
	Name     string
	Size     int64
	ETag     string    // differs when the content differs; "" when the store does not report it
	Sum      string    // SHA-256 of the content in hexadecimal digits; "" when the store does not report it
	Modified time.Time // by the clock of the store
}

// Condition says when Put may write.
type Condition bool

const (
	Always   Condition = false // replace an existing object
	IfAbsent Condition = true  // keep an existing object of that name and return ErrExists
)

// Store holds the objects of one bucket. Names are UTF-8, with slashes between their elements.
//
// A store is consistent: every read or listing that begins after a write has returned sees the write.
type Store interface {
	// Get opens an object at a byte offset, which may be its end. The Info has no Sum. version selects an older content
	// if the store keeps versions; "" is the latest.
	Get(ctx context.Context, name, version string, offset int64) (io.ReadCloser, Info, error)
	// Head describes an object.
	Head(ctx context.Context, name string) (Info, error)
	// Put writes an object. After an error the object is either written whole or not at all. When Put returns nil, the
	// store has checked that the bytes received have the SHA-256 of the bytes sent.
	Put(ctx context.Context, name string, body io.ReadSeeker, when Condition) error
	// Copy copies the content of an object to another name. It returns ErrExists if an object has that name.
	Copy(ctx context.Context, from, to string) error
	// List yields the objects whose names begin with prefix and sort after a name, in the byte order of the names.
	// Their Infos have name, size, time, and the ETag that Get and Head report.
	List(ctx context.Context, prefix, after string) iter.Seq2[Info, error]
	// Delete removes objects. Deleting an object that does not exist is not an error.
	Delete(ctx context.Context, names ...string) error
}

// Ranges is a Store that reads parts of objects.
type Ranges interface {
	// GetRange opens length bytes of an object at a byte offset. The object must have them. It returns ErrChanged if the
	// ETag of the object is another one.
	GetRange(ctx context.Context, name, etag string, offset, length int64) (io.ReadCloser, error)
}

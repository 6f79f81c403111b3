package table

import "fmt"

// Reader reads the attributes of an item. It records the first error, so that a caller can read all attributes and then
// call Err once. A missing attribute is an error unless it is optional.
type Reader struct {
	item Item
	err  error
}

// Read returns a Reader of an item.
func Read(item Item) *Reader { return &Reader{item: item} }

// Err returns the first error, or nil.
func (r *Reader) Err() error { return r.err }

// String reads a required string.
func (r *Reader) String(name string) string { return required[string](r, name, "a string") }

// Int64 reads a required integer.
func (r *Reader) Int64(name string) int64 { return required[int64](r, name, "an integer") }

// Bytes reads required bytes.
func (r *Reader) Bytes(name string) []byte { return required[[]byte](r, name, "bytes") }

// OptionalString reads an optional string. It returns "" if the attribute is missing.
func (r *Reader) OptionalString(name string) string { return optional[string](r, name, "a string") }

// OptionalInt64 reads an optional integer. It returns 0 if the attribute is missing.
func (r *Reader) OptionalInt64(name string) int64 { return optional[int64](r, name, "an integer") }

// Strings reads an optional list of strings. It returns nil if the attribute is missing.
func (r *Reader) Strings(name string) []string {
	return optional[[]string](r, name, "a list of strings")
}

func optional[T any](r *Reader, name, want string) (value T) {
	if _, ok := r.item.Attributes[name]; !ok {
		return value
	}
	return required[T](r, name, want)
}

func required[T any](r *Reader, name, want string) T {
	value, ok := r.item.Attributes[name].(T)
	if !ok && r.err == nil {
		r.err = fmt.Errorf("item %s %s: attribute %s is not %s", r.item.Key.Partition, r.item.Key.Sort, name, want)
	}
	return value
}

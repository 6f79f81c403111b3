// Package completionindex defines the lists of values that are kept beside each object of a lake in the cloud: the
// commonest values of some fields, for each branch. Completion reads them instead of running a query. They only help: a
// lake without them has the same records.
package completionindex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// MaxValues is the maximum number of values of a field for each branch.
	MaxValues = 200
	// MaxBytes is the maximum size of the lists of an object, encoded.
	MaxBytes = 64 << 10
	// MaxLength is the maximum length in bytes of a value. Longer ones are left out.
	MaxLength = 256

	version = 1
	maxText = 32 * MaxBytes // of lists before they are compressed
)

// Lists are the commonest values of the fields of an object.
type Lists struct {
	Version int `json:"version"`
	// Bytes is the size of the object. The lists of an object of another size do not belong to it.
	Bytes    int64    `json:"bytes"`
	Fields   []string `json:"fields"`        // the fields that have lists, as query.Dimension prints them
	Branches []Branch `json:"branches"`      // the one with the most records first
	Cut      bool     `json:"cut,omitempty"` // further branches are left out
}

// Branch has the values of the records of one branch.
type Branch struct {
	Name   *string             `json:"branch"`        // nil: the records that have no branch
	Values map[string][]string `json:"values"`        // by field, the commonest first; a field without values is absent
	Cut    []string            `json:"cut,omitempty"` // fields with values that are left out, sorted
}

// Each calls yield with each value of a field in the branches for which sees returns true. It calls sees with nil for
// the records that have no branch. all reports whether the lists have all values of these records.
func (l *Lists) Each(field string, sees func(branch *string) bool, yield func(value string)) (all bool) {
	all = !l.Cut && slices.Contains(l.Fields, field)
	for _, b := range l.Branches {
		if !sees(b.Name) {
			continue
		}
		for _, value := range b.Values[field] {
			yield(value)
		}
		all = all && !slices.Contains(b.Cut, field)
	}
	return all
}

// Folder is the folder of all lists, below the folder of the lake.
const Folder = "_values/"

// Name returns the name of the lists of an object. Both names are below the folder of the lake. Engines do not read the
// lists: their tables are other folders, and the name begins with an underscore.
func Name(object string) string { return Folder + strings.TrimSuffix(object, ".parquet") + ".json.zst" }

// ErrVersion means that a program of another version has written the lists in a form that this version does not know.
var ErrVersion = errors.New("the lists of values have another version")

var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
})

var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(4*maxText))
})

// encode returns the lists as compressed JSON, or nil if that would be too large. Equal lists have equal bytes.
func encode(l Lists) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return nil, fmt.Errorf("encode lists of values: %w", err)
	}
	if text.Len() > maxText {
		return nil, nil
	}
	z, err := encoder()
	if err != nil {
		return nil, fmt.Errorf("encode lists of values: %w", err)
	}
	encoded := z.EncodeAll(text.Bytes(), nil)
	if len(encoded) > MaxBytes {
		return nil, nil
	}
	return encoded, nil
}

// Decode returns encoded lists. The error is ErrVersion for lists of another version.
func Decode(encoded []byte) (*Lists, error) {
	if len(encoded) > MaxBytes {
		return nil, fmt.Errorf("decode lists of values: they have %d bytes, more than %d", len(encoded), MaxBytes)
	}
	z, err := decoder()
	var text []byte
	if err == nil {
		text, err = z.DecodeAll(encoded, nil)
	}
	l := &Lists{}
	if err == nil {
		err = json.Unmarshal(text, l)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("decode lists of values: %w", err)
	case l.Version != version:
		return nil, fmt.Errorf("decode lists of values: %w: %d", ErrVersion, l.Version)
	}
	return l, nil
}

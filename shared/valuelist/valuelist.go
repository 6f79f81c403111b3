// Package valuelist defines lists of values, such as addresses, to which filters refer by name. Their versions are
// documents that describe the values; the values themselves are objects, which are named by their digest and never change.
package valuelist

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/query"
)

// Kind is the kind of the documents that describe lists.
const Kind document.Kind = "list"

// DocumentOf identifies a list.
func DocumentOf(config, name string) document.ID {
	return document.ID{Kind: Kind, Config: config, Name: name}
}

// The limits of a list.
const (
	MaxValues   = 100_000
	MaxValue    = 1_000     // bytes of a value
	MaxBytes    = 3_000_000 // of all values, with a line break after each
	maxMistakes = 10        // that are reported
)

// Description describes the values of a version. It is stored as JSON with these members.
type Description struct {
	Digest string         `json:"digest"` // SHA-256 of the object, in hexadecimal digits
	Values int            `json:"values"` // their number
	Kind   query.ListKind `json:"kind"`
}

// Text returns the description as the text of a document.
func (d Description) Text() string { return document.JSON(d) }

// Stored returns the description of a document.
func Stored(text string) (Description, error) {
	var d Description
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return Description{}, fmt.Errorf("read the description of a list: %w", err)
	}
	return d, nil
}

// Objects stores the values of lists.
type Objects interface {
	// Put stores an object durably. It is not an error if an object with the digest exists.
	Put(ctx context.Context, digest string, content []byte) error
	// Get returns an object.
	Get(ctx context.Context, digest string) ([]byte, error)
}

// Parse reads the values of a list: one in a line, without the white space around it. Empty lines and lines that begin
// with # count for nothing, and a value that is given twice counts once. If all values are addresses and networks,
// or numbers of autonomous systems, they get their usual texts. The error is of kind fault.TooLarge, or Mistakes.
func Parse(body []byte) (Description, []byte, error) {
	values, err := valuesOf(body)
	if err != nil {
		return Description{}, nil, err
	}
	kind := query.KindOfList(values)
	for i, v := range values {
		switch kind {
		case query.AddressList:
			network, _ := query.ParseListAddress(v)
			if values[i] = network.String(); network.IsSingleIP() {
				values[i] = network.Addr().String()
			}
		case query.SystemList:
			values[i] = "AS" + strings.TrimLeft(v, "ASas")
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	content := []byte(strings.Join(values, "\n") + "\n")
	if len(content) > MaxBytes {
		return Description{}, nil, tooManyBytes(len(content))
	}
	return Description{Digest: digestOf(content), Values: len(values), Kind: kind}, content, nil
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Read reads the values with a digest, and checks that they have it.
func Read(ctx context.Context, from Objects, digest string) ([]string, error) {
	content, err := from.Get(ctx, digest)
	if err != nil {
		return nil, err
	}
	if digestOf(content) != digest {
		return nil, fmt.Errorf("the values of a list are not those with the digest %s", digest)
	}
	return Values(content), nil
}

func valuesOf(body []byte) ([]string, error) {
	var values []string
	var wrong Mistakes
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(body), "\ufeff")) {
		number++
		value := strings.TrimSpace(line)
		if value == "" || value[0] == '#' {
			continue
		}
		if mistake := mistakeIn(value); mistake != "" {
			wrong = append(wrong, Mistake{number, mistake})
		}
		if values = append(values, value); len(wrong) == maxMistakes {
			break
		}
	}
	switch {
	case len(wrong) > 0:
		return nil, wrong
	case len(values) == 0:
		return nil, Mistakes{{1, noValues}}
	case len(values) > MaxValues:
		return nil, tooManyValues(len(values))
	}
	return values, nil
}

// Values returns the values in an object.
func Values(content []byte) []string {
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

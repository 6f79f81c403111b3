package dynamotable

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item has the attributes of an item by name.
type Item = map[string]types.AttributeValue

// Key returns the key of an item.
func Key(pk, sk string) Item { return Item{PartitionKey: String(pk), SortKey: String(sk)} }

// NewItem returns an item with the given key and attributes.
func NewItem(pk, sk string, attributes Item) Item {
	item := Key(pk, sk)
	maps.Copy(item, attributes)
	return item
}

// String returns the value of a string attribute.
func String(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Number returns the value of a number attribute.
func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Strings returns the value of a list of strings. Unlike a set, a list may be empty.
func Strings(list []string) types.AttributeValue {
	values := make([]types.AttributeValue, len(list))
	for i, s := range list {
		values[i] = String(s)
	}
	return &types.AttributeValueMemberL{Value: values}
}

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
func (r *Reader) String(name string) string {
	value, ok := r.item[name].(*types.AttributeValueMemberS)
	if !ok {
		r.fail(name, "a string")
		return ""
	}
	return value.Value
}

// Int64 reads a required integer.
func (r *Reader) Int64(name string) int64 {
	value, ok := r.item[name].(*types.AttributeValueMemberN)
	if !ok {
		r.fail(name, "a number")
		return 0
	}
	n, err := strconv.ParseInt(value.Value, 10, 64)
	if err != nil {
		r.fail(name, "an integer")
	}
	return n
}

// OptionalInt64 reads an optional integer. It returns 0 if the attribute is missing.
func (r *Reader) OptionalInt64(name string) int64 {
	if _, ok := r.item[name]; !ok {
		return 0
	}
	return r.Int64(name)
}

// Strings reads an optional list of strings. It returns nil if the attribute is missing.
func (r *Reader) Strings(name string) []string {
	value, ok := r.item[name]
	if !ok {
		return nil
	}
	list, ok := value.(*types.AttributeValueMemberL)
	if !ok {
		r.fail(name, "a list")
		return nil
	}
	var texts []string
	for _, value := range list.Value {
		text, ok := value.(*types.AttributeValueMemberS)
		if !ok {
			r.fail(name, "a list of strings")
			return nil
		}
		texts = append(texts, text.Value)
	}
	return texts
}

func (r *Reader) fail(name, want string) {
	if r.err == nil {
		partition, sort := keyText(r.item[PartitionKey]), keyText(r.item[SortKey])
		r.err = fmt.Errorf("item %s %s: attribute %s is not %s", partition, sort, name, want)
	}
}

// keyText returns a key for a message.
func keyText(value types.AttributeValue) string {
	if s, ok := value.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return "without key"
}

package dynamotable

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is the attributes of an item by name.
type Item = map[string]types.AttributeValue

// Key is the key of an item.
func Key(pk, sk string) Item { return Item{PartitionKey: String(pk), SortKey: String(sk)} }

// NewItem is an item with that key and those attributes.
func NewItem(pk, sk string, attributes Item) Item {
	item := Key(pk, sk)
	maps.Copy(item, attributes)
	return item
}

// String is the value of a string attribute.
func String(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Number is the value of a number attribute.
func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Strings is the value of a list of strings; unlike a set it may be empty.
func Strings(list []string) types.AttributeValue {
	values := make([]types.AttributeValue, len(list))
	for i, s := range list {
		values[i] = String(s)
	}
	return &types.AttributeValueMemberL{Value: values}
}

// Reader reads the attributes of an item and keeps the first mistake: the fields are read one after the other and the
// whole is checked once, with Err. An attribute that must be there and is not is a mistake.
type Reader struct {
	item Item
	err  error
}

// Read begins to read an item.
func Read(item Item) *Reader { return &Reader{item: item} }

// Err is the first mistake, or nil.
func (r *Reader) Err() error { return r.err }

// String reads a string that must be there.
func (r *Reader) String(name string) string {
	value, ok := r.item[name].(*types.AttributeValueMemberS)
	if !ok {
		r.fail(name, "string")
		return ""
	}
	return value.Value
}

// Int64 reads a whole number that must be there.
func (r *Reader) Int64(name string) int64 {
	value, ok := r.item[name].(*types.AttributeValueMemberN)
	if !ok {
		r.fail(name, "number")
		return 0
	}
	n, err := strconv.ParseInt(value.Value, 10, 64)
	if err != nil {
		r.fail(name, "whole number")
	}
	return n
}

// OptionalInt64 reads a whole number, 0 when it is not there.
func (r *Reader) OptionalInt64(name string) int64 {
	if _, given := r.item[name]; !given {
		return 0
	}
	return r.Int64(name)
}

// Strings reads a list of strings, none when it is not there.
func (r *Reader) Strings(name string) []string {
	given, ok := r.item[name]
	if !ok {
		return nil
	}
	list, ok := given.(*types.AttributeValueMemberL)
	if !ok {
		r.fail(name, "list")
		return nil
	}
	var texts []string
	for _, value := range list.Value {
		text, ok := value.(*types.AttributeValueMemberS)
		if !ok {
			r.fail(name, "list of strings")
			return nil
		}
		texts = append(texts, text.Value)
	}
	return texts
}

func (r *Reader) fail(name, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("item %s %s: attribute %s is no %s", text(r.item[PartitionKey]), text(r.item[SortKey]), name, want)
	}
}

// text shows a key in a message.
func text(value types.AttributeValue) string {
	if s, ok := value.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return "without key"
}

package tablesqlite

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/table"
)

// binary is a value of bytes in the JSON of attributes. Strings, integers and lists of strings are themselves.
type binary struct {
	Base64 []byte `json:"base64"`
}

// textOf returns attributes as JSON.
func textOf(attributes table.Attributes) (string, error) {
	values := make(map[string]any, len(attributes))
	for name, value := range attributes {
		switch value := value.(type) {
		case string, int64:
			values[name] = value
		case []string:
			values[name] = append([]string{}, value...) // not null
		case []byte:
			values[name] = binary{value}
		default:
			panic(fmt.Sprintf("tablesqlite: an attribute is a %T", value))
		}
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(values)
	return b.String(), err
}

// itemOf returns the item with the attributes in a text.
func itemOf(key table.Key, text string) (table.Item, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return table.Item{}, fmt.Errorf("item %s %s: %w", key.Partition, key.Sort, err)
	}
	attributes := make(table.Attributes, len(values))
	for name, value := range values {
		plain, err := valueOf(value)
		if err != nil {
			return table.Item{}, fmt.Errorf("item %s %s: attribute %s: %w", key.Partition, key.Sort, name, err)
		}
		attributes[name] = plain
	}
	return table.Item{Key: key, Attributes: attributes}, nil
}

func valueOf(value json.RawMessage) (any, error) {
	switch value[0] {
	case '"':
		return read[string](value)
	case '[':
		return read[[]string](value)
	case '{':
		b, err := read[binary](value)
		return b.Base64, err
	}
	return strconv.ParseInt(string(value), 10, 64)
}

func read[T any](value json.RawMessage) (v T, err error) {
	err = json.Unmarshal(value, &v)
	return v, err
}

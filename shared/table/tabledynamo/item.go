package tabledynamo

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/table"
)

// item has the attributes of an item by name, with its key.
type item = map[string]types.AttributeValue

func itemFor(key table.Key, attributes table.Attributes) item {
	out := Key(key.Partition, key.Sort)
	for name, value := range attributes {
		out[name] = attribute(value)
	}
	return out
}

// attribute returns a value in the type of DynamoDB. A list of strings is no set, because a set cannot be empty.
func attribute(value any) types.AttributeValue {
	switch value := value.(type) {
	case string:
		return &types.AttributeValueMemberS{Value: value}
	case int64:
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(value, 10)}
	case []byte:
		return &types.AttributeValueMemberB{Value: value}
	case []string:
		list := make([]types.AttributeValue, len(value))
		for i, text := range value {
			list[i] = attribute(text)
		}
		return &types.AttributeValueMemberL{Value: list}
	}
	panic(fmt.Sprintf("tabledynamo: an attribute is a %T", value))
}

// itemOf returns an item that DynamoDB has returned.
func itemOf(found item) (table.Item, error) {
	attributes := make(table.Attributes, len(found))
	for name, value := range found {
		plain, err := valueOf(value)
		if err != nil {
			return table.Item{}, fmt.Errorf("item %s %s: attribute %s %w",
				text(found[PartitionKey]), text(found[SortKey]), name, err)
		}
		attributes[name] = plain
	}
	key := table.Key{Partition: text(found[PartitionKey]), Sort: text(found[SortKey])}
	delete(attributes, PartitionKey)
	delete(attributes, SortKey)
	return table.Item{Key: key, Attributes: attributes}, nil
}

// text returns a key. The keys of the table are strings.
func text(value types.AttributeValue) string {
	s, _ := value.(*types.AttributeValueMemberS)
	return s.Value
}

func valueOf(value types.AttributeValue) (any, error) {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return value.Value, nil
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(value.Value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("is not an integer")
		}
		return n, nil
	case *types.AttributeValueMemberB:
		return value.Value, nil
	case *types.AttributeValueMemberL:
		list := make([]string, len(value.Value))
		for i, one := range value.Value {
			s, ok := one.(*types.AttributeValueMemberS)
			if !ok {
				return nil, fmt.Errorf("is not a list of strings")
			}
			list[i] = s.Value
		}
		return list, nil
	}
	return nil, fmt.Errorf("has the type %T", value)
}

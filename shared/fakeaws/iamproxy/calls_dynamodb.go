package iamproxy

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/permissions"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// item holds the attributes of an item, of which only the partition key is read.
type item map[string]struct{ S *string }

// partition returns the partition key of an item.
func (i item) partition() (string, error) {
	key := i[tabledynamo.PartitionKey].S
	if key == nil {
		return "", fmt.Errorf("an item has no partition key")
	}
	return *key, nil
}

// target is an operation of a transaction, or a request on one item.
type target struct {
	TableName string
	Key, Item item
}

// transactItem is one operation of a transaction.
type transactItem struct {
	Put, Update, Delete, ConditionCheck, Get *target
}

// tableRequest holds the members that name tables, items and keys, of the requests of all operations.
type tableRequest struct {
	target
	IndexName                 string
	KeyConditionExpression    string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues item
	TransactItems             []transactItem
	RequestItems              map[string]json.RawMessage
}

// callsOfDynamoDB returns the calls of an operation on tables.
func (s Scope) callsOfDynamoDB(c Credential, operation string, body []byte) ([]permissions.Call, error) {
	var in tableRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	call := func(action, table string, keys ...string) permissions.Call {
		resource := s.arn(c, "table/"+table)
		if strings.HasPrefix(table, "arn:") {
			resource = table
		}
		return permissions.Call{
			Action: "dynamodb:" + action, Resource: resource, Keys: map[string][]string{permissions.LeadingKeys: keys},
		}
	}
	switch operation {
	case "GetItem", "PutItem", "UpdateItem", "DeleteItem":
		key, err := in.key()
		return []permissions.Call{call(operation, in.TableName, key)}, err
	case "Query":
		key, err := in.keyOfQuery()
		one := call(operation, in.TableName, key)
		if in.IndexName != "" {
			one.Resource += "/index/" + in.IndexName
		}
		return []permissions.Call{one}, err
	case "Scan", "DescribeTable": // no leading keys: IAM's ForAllValues holds for them
		return []permissions.Call{{Action: "dynamodb:" + operation, Resource: call("", in.TableName).Resource}}, nil
	case "TransactWriteItems", "TransactGetItems":
		return in.callsOfTransaction(call)
	case "BatchGetItem", "BatchWriteItem":
		return in.callsOfBatch(operation, call)
	}
	return nil, fmt.Errorf("the operation is unknown")
}

// key returns the partition key of the item that the target names or writes.
func (t target) key() (string, error) {
	if t.Key != nil {
		return t.Key.partition()
	}
	return t.Item.partition()
}

var keyCondition = regexp.MustCompile(`^\s*(#?\w+)\s*=\s*(:\w+)\s*(?:AND\b|and\b|$)`)

// keyOfQuery returns the partition key of a query, which must come first in its condition.
func (in tableRequest) keyOfQuery() (string, error) {
	m := keyCondition.FindStringSubmatch(in.KeyConditionExpression)
	if m == nil || m[1] != tabledynamo.PartitionKey && in.ExpressionAttributeNames[m[1]] != tabledynamo.PartitionKey {
		return "", fmt.Errorf("no partition key in the condition %q", in.KeyConditionExpression)
	}
	key := in.ExpressionAttributeValues[m[2]].S
	if key == nil {
		return "", fmt.Errorf("no value for %s", m[2])
	}
	return *key, nil
}

// callsOfTransaction returns a call for each action of a transaction, with the keys of all its operations: IAM has no
// action for the transaction itself, and AWS does not document whether one statement must allow all of its keys. This
// is the stricter reading.
func (in tableRequest) callsOfTransaction(
	call func(action, table string, keys ...string) permissions.Call,
) ([]permissions.Call, error) {
	tables := map[string]string{} // by action
	var keys []string
	for _, one := range in.TransactItems {
		found := false
		for action, t := range map[string]*target{
			"PutItem": one.Put, "UpdateItem": one.Update, "DeleteItem": one.Delete,
			"ConditionCheckItem": one.ConditionCheck, "GetItem": one.Get,
		} {
			if t == nil {
				continue
			}
			key, err := t.key()
			if err != nil {
				return nil, err
			}
			if table, known := tables[action]; known && table != t.TableName {
				return nil, fmt.Errorf("the transaction is about several tables")
			}
			tables[action], keys, found = t.TableName, append(keys, key), true
		}
		if !found {
			return nil, fmt.Errorf("an operation of the transaction is unknown")
		}
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf("the transaction is empty")
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	var calls []permissions.Call
	for _, action := range slices.Sorted(maps.Keys(tables)) {
		calls = append(calls, call(action, tables[action], keys...))
	}
	return calls, nil
}

// callsOfBatch returns a call for each table of a batch.
func (in tableRequest) callsOfBatch(
	operation string, call func(action, table string, keys ...string) permissions.Call,
) ([]permissions.Call, error) {
	var calls []permissions.Call
	for table, request := range in.RequestItems {
		var keys []string
		for _, i := range itemsOfBatch(operation, request) {
			key, err := i.partition()
			if err != nil {
				return nil, err
			}
			keys = append(keys, key)
		}
		if len(keys) == 0 {
			return nil, fmt.Errorf("the batch for table %s is not understood", table)
		}
		calls = append(calls, call(operation, table, keys...))
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("the batch is empty")
	}
	return calls, nil
}

// itemsOfBatch returns the items of one table's part of a batch, or none if it is not understood.
func itemsOfBatch(operation string, request json.RawMessage) []item {
	if operation == "BatchGetItem" {
		var get struct{ Keys []item }
		if json.Unmarshal(request, &get) != nil {
			return nil
		}
		return get.Keys
	}
	var writes []struct {
		PutRequest    struct{ Item item }
		DeleteRequest struct{ Key item }
	}
	if json.Unmarshal(request, &writes) != nil {
		return nil
	}
	var items []item
	for _, w := range writes {
		if w.PutRequest.Item != nil {
			items = append(items, w.PutRequest.Item)
		} else {
			items = append(items, w.DeleteRequest.Key)
		}
	}
	return items
}

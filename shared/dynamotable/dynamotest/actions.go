package dynamotest

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/orrery/orrery/shared/dynamotable"
)

// Action is an action on the table that IAM permits or denies. A transaction consists of several actions.
type Action struct {
	Name  string // "dynamodb:PutItem"
	Key   string // the partition key of the items; "" for an action on the whole table
	Index string // "" for the table itself
}

// Actions records the actions of clients. The emulators of DynamoDB permit every action, so tests compare the recorded
// actions with the permissions that infra grants.
type Actions struct {
	mu   sync.Mutex
	seen map[Action]bool
}

// Seen returns the recorded actions, in no order.
func (a *Actions) Seen() []Action {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]Action, 0, len(a.seen))
	for action := range a.seen {
		list = append(list, action)
	}
	return list
}

// Record is an option for Client and Connect that makes a record the actions of the client.
func (a *Actions) Record(o *dynamodb.Options) {
	record := middleware.InitializeMiddlewareFunc("RecordActions", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		a.add(actionsOf(in.Parameters))
		return next.HandleInitialize(ctx, in)
	})
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(record, middleware.Before)
	})
}

func (a *Actions) add(actions []Action) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil {
		a.seen = map[Action]bool{}
	}
	for _, action := range actions {
		a.seen[action] = true
	}
}

// actionsOf returns the actions of a request. An operation that is not listed is an action on the whole table.
func actionsOf(request any) []Action {
	switch in := request.(type) {
	case *dynamodb.GetItemInput:
		return []Action{{Name: "dynamodb:GetItem", Key: keyOf(in.Key)}}
	case *dynamodb.PutItemInput:
		return []Action{{Name: "dynamodb:PutItem", Key: keyOf(in.Item)}}
	case *dynamodb.UpdateItemInput:
		return []Action{{Name: "dynamodb:UpdateItem", Key: keyOf(in.Key)}}
	case *dynamodb.DeleteItemInput:
		return []Action{{Name: "dynamodb:DeleteItem", Key: keyOf(in.Key)}}
	case *dynamodb.QueryInput:
		return []Action{{Name: "dynamodb:Query", Key: keyOfQuery(in), Index: aws.ToString(in.IndexName)}}
	case *dynamodb.TransactWriteItemsInput:
		var actions []Action
		for _, item := range in.TransactItems {
			actions = append(actions, actionOfWrite(item))
		}
		return actions
	}
	operation := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", request), "*dynamodb."), "Input")
	return []Action{{Name: "dynamodb:" + operation}}
}

func actionOfWrite(item types.TransactWriteItem) Action {
	switch {
	case item.Put != nil:
		return Action{Name: "dynamodb:PutItem", Key: keyOf(item.Put.Item)}
	case item.Update != nil:
		return Action{Name: "dynamodb:UpdateItem", Key: keyOf(item.Update.Key)}
	case item.Delete != nil:
		return Action{Name: "dynamodb:DeleteItem", Key: keyOf(item.Delete.Key)}
	case item.ConditionCheck != nil:
		return Action{Name: "dynamodb:ConditionCheckItem", Key: keyOf(item.ConditionCheck.Key)}
	}
	panic("dynamotest: a transaction has an empty item")
}

func keyOf(item dynamotable.Item) string {
	r := dynamotable.Read(item)
	key := r.String(dynamotable.PartitionKey)
	if r.Err() != nil {
		panic("dynamotest: " + r.Err().Error())
	}
	return key
}

var keyCondition = regexp.MustCompile(`^(#?\w+) = (:\w+)`)

// keyOfQuery returns the partition key of a query, which must be first in the query's condition.
func keyOfQuery(in *dynamodb.QueryInput) string {
	condition := aws.ToString(in.KeyConditionExpression)
	m := keyCondition.FindStringSubmatch(condition)
	if m == nil || m[1] != dynamotable.PartitionKey && in.ExpressionAttributeNames[m[1]] != dynamotable.PartitionKey {
		panic("dynamotest: no partition key in condition " + condition)
	}
	return keyOf(dynamotable.Item{dynamotable.PartitionKey: in.ExpressionAttributeValues[m[2]]})
}

// Package dynamotable is the one DynamoDB table that a deployment keeps its small state in: how it is keyed, how items are
// read, and what its failures mean. Whoever keeps something there owns a prefix of the partition key and the shape of
// the items under it.
package dynamotable

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes that the table itself knows. All others belong to the items.
const (
	PartitionKey = "pk"      // string: prefix#what, such as planet#prod
	SortKey      = "sk"      // string
	Expires      = "expires" // number, epoch seconds: the item may be removed after that, hours later than sooner
)

// CreateTable is what makes the table, wherever it is not made by infra.
func CreateTable(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(PartitionKey), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(SortKey), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(PartitionKey), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(SortKey), KeyType: types.KeyTypeRange},
		},
	}
}

// TimeToLive is what makes the table forget items by their attribute Expires.
func TimeToLive(name string) *dynamodb.UpdateTimeToLiveInput {
	return &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(Expires), Enabled: aws.Bool(true)},
	}
}

// Package dynamotable defines the single DynamoDB table of a deployment: its keys, how items are read, and what its
// errors mean. Each package that stores items there owns a prefix of the partition key and defines the attributes of
// its items.
package dynamotable

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes that the table itself uses. The packages that store items define all others.
const (
	PartitionKey = "pk"      // string: prefix#name, such as planet#prod
	SortKey      = "sk"      // string
	Expires      = "expires" // number: Unix time in seconds after which DynamoDB removes the item, often hours later
)

// CreateTable returns the input that creates the table where infra does not create it.
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

// TimeToLive returns the input that makes the table remove items by their attribute Expires.
func TimeToLive(name string) *dynamodb.UpdateTimeToLiveInput {
	return &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(Expires),
			Enabled:       aws.Bool(true),
		},
	}
}

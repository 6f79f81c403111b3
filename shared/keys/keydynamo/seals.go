package keydynamo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/keys"
)

// sealsPartition is the partition key of the seals of keys without one of their own. The sort key is the ID of the key.
// These seals are not in the items of the keys, because functions that answer requests may not change keys.
const sealsPartition = "seals"

var _ keys.Seals = (*Store)(nil)

// SealOf implements keys.Seals. Of several calls that make a seal at the same time, the first one decides.
func (s *Store) SealOf(ctx context.Context, id string) (keys.Seal, error) {
	got, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.table), Key: dynamotable.Key(sealsPartition, id), ConsistentRead: aws.Bool(true),
	})
	switch {
	case err != nil:
		return keys.Seal{}, dynamotable.Failure(ctx, err, "read the seal of key %s", id)
	case got.Item != nil:
		return sealOf(got.Item)
	}
	seal := keys.NewSeal()
	_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(s.table),
		Item: dynamotable.NewItem(sealsPartition, id, dynamotable.Item{
			sealAttribute: dynamotable.String(hex.EncodeToString(seal[:])),
		}),
		ConditionExpression:                 aws.String("attribute_not_exists(" + dynamotable.PartitionKey + ")"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var exists *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return seal, nil
	case errors.As(err, &exists):
		return sealOf(exists.Item)
	}
	return keys.Seal{}, dynamotable.Failure(ctx, err, "make the seal of key %s", id)
}

// sealOf reads the seal of an item.
func sealOf(item dynamotable.Item) (seal keys.Seal, _ error) {
	r := dynamotable.Read(item)
	partition, id, text := r.String(dynamotable.PartitionKey), r.String(dynamotable.SortKey), r.String(sealAttribute)
	if r.Err() != nil {
		return seal, r.Err()
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(seal) {
		return seal, fmt.Errorf("item %s %s: attribute %s is not a seal", partition, id, sealAttribute)
	}
	return keys.Seal(b), nil
}

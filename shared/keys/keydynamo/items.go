package keydynamo

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/keys"
)

// All keys share one partition key; the sort key is the ID. The attributes of an item are
//
//	hash name scopes created_ms   and optionally branches expires_ms revoked_ms seal
//
// Keys that an earlier version issued have no seal, see SealOf.
//
// Keys are never removed, so their items do not have the attribute "expires", by which DynamoDB deletes items.
const (
	partition = "keys"

	hashAttribute     = "hash" // 64 hexadecimal digits
	nameAttribute     = "name"
	scopesAttribute   = "scopes"
	branchesAttribute = "branches"
	createdAttribute  = "created_ms"
	expiresAttribute  = "expires_ms"
	revokedAttribute  = "revoked_ms"
	sealAttribute     = "seal" // 64 hexadecimal digits
)

func itemOf(k keys.Key) dynamotable.Item {
	scopes := make([]string, len(k.Scopes))
	for i, scope := range k.Scopes {
		scopes[i] = string(scope)
	}
	item := dynamotable.NewItem(partition, k.ID, dynamotable.Item{
		hashAttribute:    dynamotable.String(hex.EncodeToString(k.Hash[:])),
		nameAttribute:    dynamotable.String(k.Name),
		scopesAttribute:  dynamotable.Strings(scopes),
		createdAttribute: dynamotable.Number(k.Created.UnixMilli()),
	})
	if len(k.Branches) > 0 {
		item[branchesAttribute] = dynamotable.Strings(k.Branches)
	}
	if !k.Expires.IsZero() {
		item[expiresAttribute] = dynamotable.Number(k.Expires.UnixMilli())
	}
	if !k.Revoked.IsZero() {
		item[revokedAttribute] = dynamotable.Number(k.Revoked.UnixMilli())
	}
	if !k.Seal.IsZero() {
		item[sealAttribute] = dynamotable.String(hex.EncodeToString(k.Seal[:]))
	}
	return item
}

func keyOf(item dynamotable.Item) (keys.Key, error) {
	r := dynamotable.Read(item)
	k := keys.Key{
		ID:       r.String(dynamotable.SortKey),
		Name:     r.String(nameAttribute),
		Branches: r.Strings(branchesAttribute),
		Created:  timeOf(r.Int64(createdAttribute)),
		Expires:  timeOf(r.OptionalInt64(expiresAttribute)),
		Revoked:  timeOf(r.OptionalInt64(revokedAttribute)),
	}
	for _, scope := range r.Strings(scopesAttribute) {
		k.Scopes = append(k.Scopes, keys.Scope(scope))
	}
	hash, err := hex.DecodeString(r.String(hashAttribute))
	if r.Err() != nil {
		return keys.Key{}, r.Err()
	}
	if err != nil || len(hash) != len(k.Hash) {
		return keys.Key{}, fmt.Errorf("item %s %s: attribute %s is not a hash", partition, k.ID, hashAttribute)
	}
	copy(k.Hash[:], hash)
	if _, ok := item[sealAttribute]; !ok {
		return k, nil
	}
	if k.Seal, err = sealOf(item); err != nil {
		return keys.Key{}, err
	}
	return k, nil
}

// timeOf converts epoch milliseconds to a time; 0 is the zero time.
func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

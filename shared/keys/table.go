package keys

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/table"
)

// All keys share one partition key; the sort key is the ID. The attributes of an item are
//
//	hash name scopes created_ms   and optionally branches expires_ms revoked_ms seal
//
// The attribute seal is the token key. Keys that an earlier version issued have none, see TokenKeyOf.
//
// Keys are never removed, so their items do not have the attribute "expires".
const (
	partition = "keys"

	hashAttribute     = "hash" // 64 hexadecimal digits
	nameAttribute     = "name"
	scopesAttribute   = "scopes"
	branchesAttribute = "branches"
	createdAttribute  = "created_ms"
	expiresAttribute  = "expires_ms"
	revokedAttribute  = "revoked_ms"
	tokenKeyAttribute = "seal" // 64 hexadecimal digits
)

// tokenKeysPartition is the partition key of the token keys of API keys without one of their own. The sort key is the ID
// of the API key. These token keys are items of their own, because functions that answer requests may not change API keys.
const tokenKeysPartition = "seals"

// Items implements Store and TokenKeys over a table.
type Items struct{ table table.Table }

var (
	_ Store     = (*Items)(nil)
	_ TokenKeys = (*Items)(nil)
)

// Over returns a store over a table.
func Over(t table.Table) *Items { return &Items{t} }

// Create implements Store.
func (s *Items) Create(ctx context.Context, k Key) error {
	stored, err := s.first(ctx, itemOf(k))
	if err != nil {
		return fmt.Errorf("create key %s: %w", k.ID, err)
	}
	before, err := keyOf(stored)
	if err == nil && before.Hash != k.Hash {
		return Taken(k.ID)
	}
	return err
}

// first writes an item, unless there is one with its key. It returns the item that is stored.
func (s *Items) first(ctx context.Context, item table.Item) (table.Item, error) {
	err := s.table.Write(ctx, table.Change{Key: item.Key, Attributes: item.Attributes, When: table.Absent})
	if errors.Is(err, table.ErrConflict) {
		return s.table.Get(ctx, item.Key)
	}
	return item, err
}

// List implements Store.
func (s *Items) List(ctx context.Context) ([]Key, error) {
	list, err := table.Collect(ctx, s.table, table.Range{Partition: partition}, keyOf)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	slices.SortStableFunc(list, func(a, b Key) int {
		if byAge := a.Created.Compare(b.Created); byAge != 0 {
			return byAge
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, nil
}

// Find implements Store.
func (s *Items) Find(ctx context.Context, id string) (Key, error) {
	item, err := s.find(ctx, id)
	if err != nil {
		return Key{}, err
	}
	return keyOf(item)
}

func (s *Items) find(ctx context.Context, id string) (table.Item, error) {
	item, err := s.table.Get(ctx, table.Key{Partition: partition, Sort: id})
	switch {
	case err != nil:
		return item, fmt.Errorf("find key %s: %w", id, err)
	case !item.Exists():
		return item, NotFound(id)
	}
	return item, nil
}

// Revoke implements Store. It keeps attributes that a later version has added.
func (s *Items) Revoke(ctx context.Context, id string, at time.Time) error {
	item, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	item.Attributes[revokedAttribute] = at.UnixMilli()
	err = s.table.Write(ctx, table.Change{
		Key: item.Key, Attributes: item.Attributes, When: table.Where(revokedAttribute, nil),
	})
	if err != nil && !errors.Is(err, table.ErrConflict) { // the key is revoked already
		return fmt.Errorf("revoke key %s: %w", id, err)
	}
	return nil
}

// TokenKeyOf implements TokenKeys. Of several calls that make a token key at the same time, the first one decides.
func (s *Items) TokenKeyOf(ctx context.Context, id string) (TokenKey, error) {
	item, err := s.table.Get(ctx, table.Key{Partition: tokenKeysPartition, Sort: id})
	if err == nil && !item.Exists() {
		item.Attributes = table.Attributes{tokenKeyAttribute: digits(NewTokenKey())}
		item, err = s.first(ctx, item)
	}
	if err != nil {
		return TokenKey{}, fmt.Errorf("find the token key of key %s: %w", id, err)
	}
	return bytesOf(item, tokenKeyAttribute)
}

func itemOf(k Key) table.Item {
	scopes := make([]string, len(k.Scopes))
	for i, scope := range k.Scopes {
		scopes[i] = string(scope)
	}
	attributes := table.Attributes{
		hashAttribute: digits(k.Hash), nameAttribute: k.Name, scopesAttribute: scopes, createdAttribute: k.Created.UnixMilli(),
	}
	if len(k.Branches) > 0 {
		attributes[branchesAttribute] = k.Branches
	}
	if !k.Expires.IsZero() {
		attributes[expiresAttribute] = k.Expires.UnixMilli()
	}
	if !k.Revoked.IsZero() {
		attributes[revokedAttribute] = k.Revoked.UnixMilli()
	}
	if !k.TokenKey.IsZero() {
		attributes[tokenKeyAttribute] = digits(k.TokenKey)
	}
	return table.Item{Key: table.Key{Partition: partition, Sort: k.ID}, Attributes: attributes}
}

func keyOf(item table.Item) (Key, error) {
	r := table.Read(item)
	k := Key{
		ID:       item.Key.Sort,
		Name:     r.String(nameAttribute),
		Branches: r.Strings(branchesAttribute),
		Created:  timeOf(r.Int64(createdAttribute)),
		Expires:  timeOf(r.OptionalInt64(expiresAttribute)),
		Revoked:  timeOf(r.OptionalInt64(revokedAttribute)),
	}
	for _, scope := range r.Strings(scopesAttribute) {
		k.Scopes = append(k.Scopes, Scope(scope))
	}
	hash, err := bytesOf(item, hashAttribute)
	if err = errors.Join(r.Err(), err); err != nil {
		return Key{}, err
	}
	k.Hash = hash
	if _, ok := item.Attributes[tokenKeyAttribute]; ok {
		if k.TokenKey, err = bytesOf(item, tokenKeyAttribute); err != nil {
			return Key{}, err
		}
	}
	return k, nil
}

func digits(b [32]byte) string { return hex.EncodeToString(b[:]) }

// bytesOf reads 32 bytes from an attribute.
func bytesOf(item table.Item, name string) (b [32]byte, _ error) {
	text, _ := item.Attributes[name].(string)
	all, err := hex.DecodeString(text)
	if err != nil || len(all) != len(b) {
		return b, fmt.Errorf("item %s %s: attribute %s is not 64 hexadecimal digits", item.Key.Partition, item.Key.Sort, name)
	}
	return [32]byte(all), nil
}

// timeOf converts epoch milliseconds to a time; 0 is the zero time.
func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

package pendingdynamo

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/search/pending"
)

// The items of the table:
//
//	join#<key>   join       id, expires
//	query#<id>   head       key, execution, began (Unix milliseconds), request (first part), expires
//	query#<id>   more#01 …  request (further parts), expires
//
// A request is compressed. If it is too long for one item, it is divided into parts, because a filter may have a
// megabyte.
const (
	joinPrefix  = "join#"
	joinSort    = "join"
	queryPrefix = "query#"
	headKey     = "head"

	idAttribute        = "id"
	keyAttribute       = "request_key"
	executionAttribute = "execution"
	beganAttribute     = "began"
	requestAttribute   = "request"

	maxPart = 350_000 // bytes of a request in one item; an item may have 400 kB
)

func joinKey(key string) dynamotable.Item { return dynamotable.Key(joinPrefix+key, joinSort) }

// expires returns the time after which the query may be removed.
func (s *Store) expires(p pending.Query) types.AttributeValue {
	return dynamotable.Number(p.Began.Add(s.keep).Unix())
}

// join returns the item that maps the query's key to its ID.
func (s *Store) join(p pending.Query) dynamotable.Item {
	return dynamotable.NewItem(joinPrefix+p.Key, joinSort, dynamotable.Item{
		idAttribute:         dynamotable.String(string(p.ID)),
		dynamotable.Expires: s.expires(p),
	})
}

// items returns the items of the query itself.
func (s *Store) items(p pending.Query) []dynamotable.Item {
	var list []dynamotable.Item
	for part := range slices.Chunk(compress(p.Request), maxPart) {
		attributes := dynamotable.Item{
			requestAttribute:    &types.AttributeValueMemberB{Value: part},
			dynamotable.Expires: s.expires(p),
		}
		sort := fmt.Sprintf("more#%02d", len(list))
		if len(list) == 0 {
			sort = headKey
			attributes[keyAttribute] = dynamotable.String(p.Key)
			attributes[executionAttribute] = dynamotable.String(string(p.Execution))
			attributes[beganAttribute] = dynamotable.Number(p.Began.UnixMilli())
		}
		list = append(list, dynamotable.NewItem(queryPrefix+string(p.ID), sort, attributes))
	}
	return list
}

// pendingOf returns a query from its items, which are sorted by key, so that the head is first.
func pendingOf(id pending.ID, items []dynamotable.Item) (pending.Query, error) {
	r := dynamotable.Read(items[0])
	p := pending.Query{
		ID:        id,
		Key:       r.String(keyAttribute),
		Execution: engine.Execution(r.String(executionAttribute)),
		Began:     time.UnixMilli(r.Int64(beganAttribute)).UTC(),
	}
	if r.Err() != nil {
		return p, r.Err()
	}
	var whole []byte
	for _, item := range items {
		part, ok := item[requestAttribute].(*types.AttributeValueMemberB)
		if !ok {
			return p, errors.New("an item has no part of the request")
		}
		whole = append(whole, part.Value...)
	}
	var err error
	p.Request, err = decompress(whole)
	return p, err
}

func compress(request []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(request)
	if err := errors.Join(err, z.Close()); err != nil {
		panic("pendingdynamo: compress in memory: " + err.Error())
	}
	return b.Bytes()
}

func decompress(text []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

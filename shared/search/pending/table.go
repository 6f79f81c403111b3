package pending

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/table"
)

// The items of the table:
//
//	join#<key>   join       id, expires
//	query#<id>   head       request_key, execution, began (Unix milliseconds), request (first part), expires
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

// Items implements Store over a table. The table may remove expired items hours late, so Items ignores them.
type Items struct {
	table table.Table
	keep  time.Duration
	now   func() time.Time
}

var _ Store = (*Items)(nil)

// Over returns a store over a table. A query expires when the time keep has passed since its start. The engine must keep
// results for longer.
func Over(t table.Table, keep time.Duration, now func() time.Time) *Items {
	return &Items{t, keep, now}
}

// maxConflicts is the number of times that a change is repeated because another one was first.
const maxConflicts = 8

// Keep implements Store. It writes the key and all items of the query together.
func (s *Items) Keep(ctx context.Context, p Query) (Query, error) {
	join := table.Change{
		Key: joinKey(p.Key), When: table.Absent,
		Attributes: table.Attributes{idAttribute: string(p.ID), table.Expires: s.expires(p)},
	}
	changes := append([]table.Change{join}, s.changes(p)...)
	for n := 0; ; n++ {
		err := s.table.Write(ctx, changes...)
		switch {
		case err == nil:
			return p, nil
		case !errors.Is(err, table.ErrConflict):
			return Query{}, fmt.Errorf("keep query %s: %w", p.ID, err)
		}
		item, err := s.join(ctx, p.Key)
		if err != nil {
			return Query{}, err
		}
		known, missing := s.joined(ctx, item)
		if fault.KindOf(missing) != fault.NotFound || n == maxConflicts {
			return known, missing
		}
		// The other query has expired or was removed meanwhile.
		changes[0].When = table.Condition{Absent: true, Attribute: idAttribute, Is: item.Attributes[idAttribute]}
	}
}

// Find implements Store.
func (s *Items) Find(ctx context.Context, key string) (Query, error) {
	item, err := s.join(ctx, key)
	if err != nil {
		return Query{}, err
	}
	return s.joined(ctx, item)
}

// join returns the item that maps a key to the ID of a query. It may not exist.
func (s *Items) join(ctx context.Context, key string) (table.Item, error) {
	item, err := s.table.Get(ctx, joinKey(key))
	if err != nil {
		return item, fmt.Errorf("find the query of a request: %w", err)
	}
	return item, nil
}

// joined returns the query to which an item maps its key.
func (s *Items) joined(ctx context.Context, item table.Item) (Query, error) {
	if s.gone(item) {
		return Query{}, ErrNoQuery
	}
	r := table.Read(item)
	id := r.String(idAttribute)
	if r.Err() != nil {
		return Query{}, r.Err()
	}
	return s.Get(ctx, ID(id))
}

// Get implements Store.
func (s *Items) Get(ctx context.Context, id ID) (Query, error) {
	items, err := s.items(ctx, id, "")
	if err != nil {
		return Query{}, err
	}
	p, err := queryOf(id, items)
	if err != nil {
		return Query{}, fmt.Errorf("read query %s: %w", id, err)
	}
	return p, nil
}

// items returns the items of a query whose sort keys have a prefix; the head, which is there, is first.
func (s *Items) items(ctx context.Context, id ID, prefix string) ([]table.Item, error) {
	items, err := table.List(ctx, s.table, table.Range{Partition: queryPrefix + string(id), Prefix: prefix})
	switch {
	case err != nil:
		return nil, fmt.Errorf("read query %s: %w", id, err)
	case len(items) == 0 || s.gone(items[0]):
		return nil, ErrNoQuery
	}
	return items, nil
}

// Move implements Store. It reads the head as a range, because functions may not read single items of queries.
func (s *Items) Move(ctx context.Context, id ID, to engine.Execution) error {
	for n := 0; ; n++ {
		items, err := s.items(ctx, id, headKey)
		if err != nil {
			return err
		}
		head := table.Change{
			Key: items[0].Key, Attributes: items[0].Attributes,
			When: table.Where(executionAttribute, items[0].Attributes[executionAttribute]),
		}
		head.Attributes[executionAttribute] = string(to)
		err = s.table.Write(ctx, head)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, table.ErrConflict) || n == maxConflicts:
			return fmt.Errorf("move query %s: %w", id, err)
		}
	}
}

// Detach implements Store.
func (s *Items) Detach(ctx context.Context, p Query) error { return s.remove(ctx, p, nil) }

// Forget implements Store.
func (s *Items) Forget(ctx context.Context, p Query) error { return s.remove(ctx, p, s.changes(p)) }

// remove removes the key of a query, unless it belongs to a later query, and items of the query.
func (s *Items) remove(ctx context.Context, p Query, items []table.Change) error {
	own := table.Condition{Absent: true, Attribute: idAttribute, Is: string(p.ID)}
	changes := []table.Change{{Key: joinKey(p.Key), When: own}}
	for _, item := range items {
		changes = append(changes, table.Change{Key: item.Key})
	}
	err := s.table.Write(ctx, changes...)
	if errors.Is(err, table.ErrConflict) { // the key belongs to another query
		if err = nil; len(changes) > 1 {
			err = s.table.Write(ctx, changes[1:]...)
		}
	}
	if err != nil {
		return fmt.Errorf("remove query %s: %w", p.ID, err)
	}
	return nil
}

// gone reports whether an item is missing or has expired.
func (s *Items) gone(item table.Item) bool {
	return !item.Exists() || table.Read(item).OptionalInt64(table.Expires) <= s.now().Unix()
}

func joinKey(key string) table.Key { return table.Key{Partition: joinPrefix + key, Sort: joinSort} }

// expires returns the time after which the query may be removed.
func (s *Items) expires(p Query) int64 { return p.Began.Add(s.keep).Unix() }

// changes returns the changes that write the items of the query itself.
func (s *Items) changes(p Query) []table.Change {
	var list []table.Change
	for part := range slices.Chunk(gzipped.Of(p.Request), maxPart) {
		attributes := table.Attributes{requestAttribute: part, table.Expires: s.expires(p)}
		sort := fmt.Sprintf("more#%02d", len(list))
		if len(list) == 0 {
			sort = headKey
			attributes[keyAttribute] = p.Key
			attributes[executionAttribute] = string(p.Execution)
			attributes[beganAttribute] = p.Began.UnixMilli()
		}
		key := table.Key{Partition: queryPrefix + string(p.ID), Sort: sort}
		list = append(list, table.Change{Key: key, Attributes: attributes})
	}
	return list
}

// queryOf returns a query from its items.
func queryOf(id ID, items []table.Item) (Query, error) {
	head := table.Read(items[0])
	p := Query{
		ID:        id,
		Key:       head.String(keyAttribute),
		Execution: engine.Execution(head.String(executionAttribute)),
		Began:     time.UnixMilli(head.Int64(beganAttribute)).UTC(),
	}
	var whole []byte
	err := head.Err()
	for _, item := range items {
		part := table.Read(item)
		whole = append(whole, part.Bytes(requestAttribute)...)
		err = errors.Join(err, part.Err())
	}
	if err == nil {
		p.Request, err = gzipped.Text(whole)
	}
	return p, err
}

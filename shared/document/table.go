package document

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/table"
)

// The items of a document without name, of kind k and configuration c, all under the partition key k#c:
//
//	head                 number
//	info#0000000012      number at_ms by etag bytes mark
//	settings#0000000012  number at_ms by etag bytes settings
//
// The items of a document with the name n have the sort keys head#n, info#n#0000000012 and settings#n#0000000012. Its
// head has all attributes of the newest settings item, so that one query lists the documents of a configuration.
//
// The first version of a document with a name adds the item config#c under the partition key configurations#k, by which
// the configurations with documents of a kind are found.
//
// Settings items repeat the attributes of info items, so that one read returns a version. The attribute settings is the
// text of any kind. Texts have at most 350,000 bytes, and items of DynamoDB at most 409,600 including attribute names.
const (
	headKey        = "head"
	infoPrefix     = "info#"
	settingsPrefix = "settings#"
	configPrefix   = "config#"

	numberAttribute = "number"
	atAttribute     = "at_ms"
	byAttribute     = "by"
	etagAttribute   = "etag"
	bytesAttribute  = "bytes"
	markAttribute   = "mark" // identifies the call of Append that wrote the item
	textAttribute   = "settings"
)

// Items implements Store over a table. A version is two items that never change: its description and its text. A third
// item per document holds the newest number. All three are written together, so versions are complete and their numbers
// are unique and without gaps.
type Items struct{ table table.Table }

var _ Store = (*Items)(nil)

// Over returns a store over a table.
func Over(t table.Table) *Items { return &Items{t} }

// Newest implements Store. It reads the last item with a text. The sort keys are in the order of the numbers.
func (s *Items) Newest(ctx context.Context, id ID) (Version, error) {
	last := id.within(settingsPrefix)
	last.Backwards, last.Limit = true, 1
	list, err := table.Collect(ctx, s.table, last, versionOf)
	switch {
	case err != nil:
		return Version{}, fmt.Errorf("read %s: %w", id, err)
	case len(list) == 0:
		return Version{}, NotFound(id, 0)
	}
	return list[0], nil
}

// Version implements Store.
func (s *Items) Version(ctx context.Context, id ID, number int) (Version, error) {
	item, err := s.table.Get(ctx, id.versionKey(settingsPrefix, number))
	switch {
	case err != nil:
		return Version{}, fmt.Errorf("read version %d of %s: %w", number, id, err)
	case !item.Exists():
		return Version{}, NotFound(id, number)
	}
	return versionOf(item)
}

// Versions implements Store.
func (s *Items) Versions(ctx context.Context, id ID) ([]Info, error) {
	all := id.within(infoPrefix)
	all.Backwards = true
	infos, err := table.Collect(ctx, s.table, all, func(item table.Item) (Info, error) {
		r := table.Read(item)
		return readInfo(r), r.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list versions of %s: %w", id, err)
	}
	return infos, nil
}

// List implements Store.
func (s *Items) List(ctx context.Context, kind Kind, config string) ([]Named, error) {
	const prefix = headKey + "#"
	heads := table.Range{Partition: partition(kind, config), Prefix: prefix}
	list, err := table.Collect(ctx, s.table, heads, func(item table.Item) (Named, error) {
		v, err := versionOf(item)
		return Named{Name: strings.TrimPrefix(item.Key.Sort, prefix), Version: v}, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the %ss of %s: %w", kind, config, err)
	}
	return slices.DeleteFunc(list, func(n Named) bool { return n.Deleted() }), nil
}

// Configurations returns the configurations in which there is, or was, a document of a kind with a name.
func (s *Items) Configurations(ctx context.Context, kind Kind) ([]string, error) {
	all := table.Range{Partition: configurationsOf(kind), Prefix: configPrefix}
	list, err := table.Collect(ctx, s.table, all, func(item table.Item) (string, error) {
		return strings.TrimPrefix(item.Key.Sort, configPrefix), nil
	})
	if err != nil {
		return nil, fmt.Errorf("list configurations with a %s: %w", kind, err)
	}
	return list, nil
}

// Append implements Store.
//
// If the response to a write is lost, its outcome is unknown. A random mark in the item identifies the call that wrote
// it, so that Append recognizes its own version.
func (s *Items) Append(ctx context.Context, id ID, v Version) error {
	if v.Number < 1 {
		return Taken(id, v.Number)
	}
	mark := rand.Text()
	err := s.table.Write(ctx, changes(id, v, mark)...)
	if err == nil {
		return nil
	}
	failed := fmt.Errorf("write version %d of %s: %w", v.Number, id, err)
	refused := errors.Is(err, table.ErrConflict)
	if !refused && fault.KindOf(err) != fault.Unavailable {
		return failed
	}
	written, err := s.table.Get(ctx, id.versionKey(infoPrefix, v.Number))
	switch {
	case err != nil:
		return fmt.Errorf("check whether version %d of %s was written: %w, after %w", v.Number, id, err, failed)
	case written.Exists() && written.Attributes[markAttribute] == mark:
		return nil
	case refused:
		return Taken(id, v.Number)
	}
	return failed
}

// changes returns the changes that append a version. Versions never change, so their items must not exist.
func changes(id ID, v Version, mark string) []table.Change {
	info, text := attributes(v.Info), attributes(v.Info)
	info[markAttribute], text[textAttribute] = mark, v.Text
	head := table.Change{Key: id.head(), Attributes: text, When: table.Absent}
	if id.Name == "" {
		head.Attributes = table.Attributes{numberAttribute: int64(v.Number)}
	}
	if v.Number > 1 {
		head.When = table.Where(numberAttribute, int64(v.Number-1))
	}
	list := []table.Change{
		head,
		{Key: id.versionKey(infoPrefix, v.Number), Attributes: info, When: table.Absent},
		{Key: id.versionKey(settingsPrefix, v.Number), Attributes: text, When: table.Absent},
	}
	if id.Name != "" && v.Number == 1 {
		config := table.Key{Partition: configurationsOf(id.Kind), Sort: configPrefix + id.Config}
		list = append(list, table.Change{Key: config, Attributes: table.Attributes{}})
	}
	return list
}

func partition(kind Kind, config string) string { return string(kind) + "#" + config }

func configurationsOf(kind Kind) string { return "configurations#" + string(kind) }

func (id ID) head() table.Key {
	sort := headKey
	if id.Name != "" {
		sort += "#" + id.Name
	}
	return table.Key{Partition: partition(id.Kind, id.Config), Sort: sort}
}

// within returns the range of the document's items with a prefix. Names contain no #, so the keys of one document are no
// prefixes of another's.
func (id ID) within(prefix string) table.Range {
	if id.Name != "" {
		prefix += id.Name + "#"
	}
	return table.Range{Partition: partition(id.Kind, id.Config), Prefix: prefix}
}

// versionKey returns the key of an item of a version. Ten digits make the order of keys the order of numbers.
func (id ID) versionKey(prefix string, number int) table.Key {
	r := id.within(prefix)
	return table.Key{Partition: r.Partition, Sort: fmt.Sprintf("%s%010d", r.Prefix, number)}
}

func attributes(info Info) table.Attributes {
	return table.Attributes{
		numberAttribute: int64(info.Number),
		atAttribute:     info.At.UnixMilli(),
		byAttribute:     info.By,
		etagAttribute:   info.ETag,
		bytesAttribute:  int64(info.Bytes),
	}
}

func versionOf(item table.Item) (Version, error) {
	r := table.Read(item)
	v := Version{Info: readInfo(r), Text: r.String(textAttribute)}
	return v, r.Err()
}

func readInfo(r *table.Reader) Info {
	return Info{
		Number: int(r.Int64(numberAttribute)),
		At:     time.UnixMilli(r.Int64(atAttribute)).UTC(),
		By:     r.String(byAttribute),
		ETag:   r.String(etagAttribute),
		Bytes:  int(r.Int64(bytesAttribute)),
	}
}

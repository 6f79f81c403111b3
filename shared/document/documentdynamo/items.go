package documentdynamo

import (
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/dynamotable"
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

func partition(kind document.Kind, config string) string { return string(kind) + "#" + config }

func configurationsOf(kind document.Kind) string { return "configurations#" + string(kind) }

func configItem(id document.ID) dynamotable.Item {
	return dynamotable.Key(configurationsOf(id.Kind), configPrefix+id.Config)
}

func partitionOf(id document.ID) string { return partition(id.Kind, id.Config) }

// Names contain no #, so the keys of one document are no prefixes of another's.
func headPrefix() string { return headKey + "#" }

func headOf(id document.ID) string {
	if id.Name == "" {
		return headKey
	}
	return headPrefix() + id.Name
}

// keysOf returns the prefix of the sort keys of a document's items.
func keysOf(prefix string, id document.ID) string {
	if id.Name == "" {
		return prefix
	}
	return prefix + id.Name + "#"
}

// versionKey returns the sort key of an item of a version. Ten digits make the order of keys the order of numbers.
func versionKey(prefix string, id document.ID, number int) string {
	return fmt.Sprintf("%s%010d", keysOf(prefix, id), number)
}

func headItem(id document.ID, v document.Version) dynamotable.Item {
	if id.Name != "" {
		return textItem(id, headOf(id), v)
	}
	return dynamotable.NewItem(partitionOf(id), headOf(id), dynamotable.Item{
		numberAttribute: dynamotable.Number(int64(v.Number)),
	})
}

func infoItem(id document.ID, info document.Info, mark string) dynamotable.Item {
	item := dynamotable.NewItem(partitionOf(id), versionKey(infoPrefix, id, info.Number), attributes(info))
	item[markAttribute] = dynamotable.String(mark)
	return item
}

func textItem(id document.ID, key string, v document.Version) dynamotable.Item {
	item := dynamotable.NewItem(partitionOf(id), key, attributes(v.Info))
	item[textAttribute] = dynamotable.String(v.Text)
	return item
}

func attributes(info document.Info) dynamotable.Item {
	return dynamotable.Item{
		numberAttribute: dynamotable.Number(int64(info.Number)),
		atAttribute:     dynamotable.Number(info.At.UnixMilli()),
		byAttribute:     dynamotable.String(info.By),
		etagAttribute:   dynamotable.String(info.ETag),
		bytesAttribute:  dynamotable.Number(int64(info.Bytes)),
	}
}

func infoOf(item dynamotable.Item) (document.Info, error) {
	r := dynamotable.Read(item)
	return readInfo(r), r.Err()
}

func versionOf(item dynamotable.Item) (document.Version, error) {
	r := dynamotable.Read(item)
	v := document.Version{Info: readInfo(r), Text: r.String(textAttribute)}
	return v, r.Err()
}

func readInfo(r *dynamotable.Reader) document.Info {
	return document.Info{
		Number: int(r.Int64(numberAttribute)),
		At:     time.UnixMilli(r.Int64(atAttribute)).UTC(),
		By:     r.String(byAttribute),
		ETag:   r.String(etagAttribute),
		Bytes:  int(r.Int64(bytesAttribute)),
	}
}

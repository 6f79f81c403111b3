package planetdynamo

import (
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/planet"
)

// The items of configuration c, all under the partition key planet#c:
//
//	head                 number
//	info#0000000012      number at_ms by etag bytes mark
//	settings#0000000012  number at_ms by etag bytes settings
//
// Settings items repeat the attributes of info items, so that one read returns a version. Settings have at most 350,000
// bytes, and items of DynamoDB at most 409,600 including attribute names.
const (
	headKey        = "head"
	infoPrefix     = "info#"
	settingsPrefix = "settings#"

	numberAttribute   = "number"
	atAttribute       = "at_ms"
	byAttribute       = "by"
	etagAttribute     = "etag"
	bytesAttribute    = "bytes"
	markAttribute     = "mark" // identifies the call of Append that wrote the item
	settingsAttribute = "settings"
)

func partition(config string) string { return "planet#" + config }

// Ten digits make the order of keys the order of numbers.
func infoKey(number int) string     { return fmt.Sprintf("%s%010d", infoPrefix, number) }
func settingsKey(number int) string { return fmt.Sprintf("%s%010d", settingsPrefix, number) }

func headItem(config string, number int) dynamotable.Item {
	return dynamotable.NewItem(partition(config), headKey, dynamotable.Item{
		numberAttribute: dynamotable.Number(int64(number)),
	})
}

func infoItem(config string, info planet.Info, mark string) dynamotable.Item {
	item := dynamotable.NewItem(partition(config), infoKey(info.Number), attributes(info))
	item[markAttribute] = dynamotable.String(mark)
	return item
}

func settingsItem(config string, v planet.Version) dynamotable.Item {
	item := dynamotable.NewItem(partition(config), settingsKey(v.Number), attributes(v.Info))
	item[settingsAttribute] = dynamotable.String(v.Settings.Text())
	return item
}

func attributes(info planet.Info) dynamotable.Item {
	return dynamotable.Item{
		numberAttribute: dynamotable.Number(int64(info.Number)),
		atAttribute:     dynamotable.Number(info.At.UnixMilli()),
		byAttribute:     dynamotable.String(info.By),
		etagAttribute:   dynamotable.String(info.ETag),
		bytesAttribute:  dynamotable.Number(int64(info.Bytes)),
	}
}

func infoOf(item dynamotable.Item) (planet.Info, error) {
	r := dynamotable.Read(item)
	return readInfo(r), r.Err()
}

func versionOf(item dynamotable.Item) (planet.Version, error) {
	r := dynamotable.Read(item)
	v := planet.Version{Info: readInfo(r), Settings: planet.Stored(r.String(settingsAttribute))}
	return v, r.Err()
}

func readInfo(r *dynamotable.Reader) planet.Info {
	return planet.Info{
		Number: int(r.Int64(numberAttribute)),
		At:     time.UnixMilli(r.Int64(atAttribute)).UTC(),
		By:     r.String(byAttribute),
		ETag:   r.String(etagAttribute),
		Bytes:  int(r.Int64(bytesAttribute)),
	}
}

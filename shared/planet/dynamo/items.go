package dynamo

import (
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/dynamo"
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

func headItem(config string, number int) dynamo.Item {
	return dynamo.NewItem(partition(config), headKey, dynamo.Item{numberAttribute: dynamo.Number(int64(number))})
}

func infoItem(config string, info planet.Info, mark string) dynamo.Item {
	item := dynamo.NewItem(partition(config), infoKey(info.Number), attributes(info))
	item[markAttribute] = dynamo.String(mark)
	return item
}

func settingsItem(config string, v planet.Version) dynamo.Item {
	item := dynamo.NewItem(partition(config), settingsKey(v.Number), attributes(v.Info))
	item[settingsAttribute] = dynamo.String(v.Settings.Text())
	return item
}

func attributes(info planet.Info) dynamo.Item {
	return dynamo.Item{
		numberAttribute: dynamo.Number(int64(info.Number)),
		atAttribute:     dynamo.Number(info.At.UnixMilli()),
		byAttribute:     dynamo.String(info.By),
		etagAttribute:   dynamo.String(info.ETag),
		bytesAttribute:  dynamo.Number(int64(info.Bytes)),
	}
}

func infoOf(item dynamo.Item) (planet.Info, error) {
	r := dynamo.Read(item)
	return readInfo(r), r.Err()
}

func versionOf(item dynamo.Item) (planet.Version, error) {
	r := dynamo.Read(item)
	v := planet.Version{Info: readInfo(r), Settings: planet.Stored(r.String(settingsAttribute))}
	return v, r.Err()
}

func readInfo(r *dynamo.Reader) planet.Info {
	return planet.Info{
		Number: int(r.Int64(numberAttribute)),
		At:     time.UnixMilli(r.Int64(atAttribute)).UTC(),
		By:     r.String(byAttribute),
		ETag:   r.String(etagAttribute),
		Bytes:  int(r.Int64(bytesAttribute)),
	}
}

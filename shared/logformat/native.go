package logformat

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-faster/jx"

	"github.com/orrery/orrery/shared/lake"
)

// native is NDJSON of the specification's records, in the shape of the API or of the gateway's engine. The decoder
// reads the lines as they are.
type native struct{}

func (native) Name() string { return "orrery" }

// Matches reports whether a line is a JSON object with a timestamp and enough other members of a record, except one of
// another format.
func (native) Matches(line []byte) bool {
	if !mayBeNative(line) {
		return false
	}
	has, certain := nativeMembersOf(line)
	return certain || len(has) >= nativeLeast
}

// mayBeNative reports whether a line is probably a JSON object with a timestamp, and of no other format.
func mayBeNative(line []byte) bool {
	return bytes.HasPrefix(line, []byte("{")) &&
		bytes.Contains(line, []byte(`"timestamp"`)) &&
		!(awsWAF{}).Matches(line) && !cloudFront.Matches(line) && !nginxJSON.Matches(line)
}

// nativeMembers are the members by which a record is recognised, besides its timestamp. Members with the same number
// count once.
var nativeMembers = map[string]struct {
	number int
	types  []jx.Type
}{
	"ip":       {0, []jx.Type{jx.String}},
	"method":   {1, []jx.Type{jx.String}},
	"path":     {2, []jx.Type{jx.String}},
	"url":      {2, []jx.Type{jx.String}},
	"host":     {3, []jx.Type{jx.String}},
	"hostname": {3, []jx.Type{jx.String}},
	"status":   {4, []jx.Type{jx.Number, jx.String}},
}

// nativeLeast is how many of nativeMembers a record has at least, unless it has one of nativeCertain.
const nativeLeast = 3

// nativeCertain are members that only the records of the specification have.
var nativeCertain = map[string][]jx.Type{
	"trigger_counters": {jx.Object},
	"security_config":  {jx.Object},
	"processing_stage": {jx.Number, jx.String},
}

// nativeMembersOf returns the names of the nativeMembers that an object with a timestamp has, and whether it has one of
// nativeCertain. The object may be cut off, as the last line of the beginning of a log is.
func nativeMembersOf(line []byte) (has []string, certain bool) {
	timestamp := false
	var numbers [5]bool
	d := jx.DecodeBytes(line)
	_ = d.ObjBytes(func(d *jx.Decoder, key []byte) error {
		name, is := string(key), d.Next()
		raw, err := d.Raw()
		if err != nil {
			return err
		}
		if name == "timestamp" {
			timestamp = is == jx.String || is == jx.Number
		}
		if slices.Contains(nativeCertain[name], is) {
			certain = true
		}
		if m, known := nativeMembers[name]; known && slices.Contains(m.types, is) && !numbers[m.number] &&
			(name != "status" || isDigits(bytes.Trim(raw, `"`))) {
			numbers[m.number] = true
			has = append(has, name)
		}
		return nil
	})
	if !timestamp {
		return nil, false
	}
	return has, certain
}

// missed returns why a JSON object is not recognised as a record.
func (native) missed(line []byte) string {
	has, _ := nativeMembersOf(line)
	found := "none"
	if len(has) > 0 {
		found = "only " + strings.Join(has, " and ")
	}
	return "a record has a timestamp and three of ip, method, path or url, host or hostname, and status; " +
		"the object has " + found
}

func (native) Convert(dst, line []byte) ([]byte, error) {
	if inner := unwrap(line); len(inner) < len(line) && bytes.HasPrefix(inner, []byte("{")) {
		return append(dst, inner...), nil
	}
	return line, nil
}

// Complete does nothing: a field that is absent from the line was absent when it was recorded.
func (native) Complete(*lake.Row) {}

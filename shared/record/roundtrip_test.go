package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/record"
	"pgregory.net/rapid"
)

// This file defines the expected output for any line a second time, with encoding/json and exact decimals and
// independent of the decoder. checkLine compares the two.

func TestDecodeIsLossless(t *testing.T) {
	d := record.NewDecoder()
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		if checkLine(t, d, []byte(anyLine().Draw(t, "line"))) {
			kept++
		}
	})
	if kept == 0 {
		t.Error("every line was rejected: nothing was tested")
	}
	t.Logf("%d lines kept", kept)
}

func TestDecodeIsLosslessThroughParquet(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, which runs with -short")
	}
	rapid.Check(t, func(t *rapid.T) {
		d := record.NewDecoder()
		var rows []lake.Row
		var want []string
		for range rapid.IntRange(1, 20).Draw(t, "lines") {
			var row lake.Row
			if _, err := d.Decode([]byte(anyLine().Draw(t, "line")), &row); err != nil {
				continue
			}
			rows = append(rows, row)
			want = append(want, string(record.AppendJSON(nil, &row, nil)))
		}
		got := writeAndRead(t, rows)
		for i := range want {
			if got := string(record.AppendJSON(nil, &got[i], nil)); got != want[i] {
				t.Fatalf("written and read back: %s", cmp.Diff(want[i], got))
			}
		}
	})
}

// writeAndRead writes rows to a Parquet object and reads them back.
func writeAndRead(t *rapid.T, rows []lake.Row) []lake.Row {
	var object bytes.Buffer
	w := parquet.NewWriter(&object)
	if err := errors.Join(w.Write(rows), w.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := parquettest.Rows(object.Bytes())
	if err != nil || len(got) != len(rows) {
		t.Fatalf("read %d of %d rows: %v", len(got), len(rows), err)
	}
	return got
}

func FuzzDecode(f *testing.F) {
	for _, line := range seedLines {
		f.Add([]byte(line))
	}
	d := record.NewDecoder()
	f.Fuzz(func(t *testing.T, line []byte) { checkLine(t, d, line) })
}

var seedLines = []string{
	`{"timestamp":"2026-01-02T03:04:05.678Z","status":200,"headers":[{"name":"a","value":"1"},{"name":"a",` +
		`"value":"2"}],"upstream_response_time":null}`,
	`{"timestamp":"2026-01-02 03:04:05,123456789012+02:30","headers":{"a":["1","2"],"b":"3"},"cookies":{"svcid":"x"}}`,
	`{"timestamp":1700000000123,"status":"200","bytes_sent":99999999999999999999,"request_time":1.0000001,` +
		`"tags":["a",null,1]}`,
	`{"timestamp":"1700000000.5","x":1,"x":2,"headers":{"a":"1","a":"2"},"security_config":{"acl_active":true,` +
		`"acl_active":false}}`,
	"{\"timestamp\":\"2026-01-02T03:04Z\",\"path\":\"/\xff\",\"host\":\"\\ud800\",\"query\":\"\\u0000\\ud83d\\ude00\"}",
	`{"timestamp":"2026-01-02T03:04:05Z","acl_triggers":{"tags":["all",1,{"a":[ ]}]},` +
		`"biometric":[{"name":"score","value":0.5},"x",[1]],"logs":null}`,
	`{"timestamp":"2026-01-02T03:04:05Z","processing_stage":"6","proxy":[{"name":"realip","value":1}],` +
		`"trigger_counters":{"acl":1,"new":2}}`,
	"  {\t\"timestamp\" : \"2026-01-02T03:04:05Z\" ,\r\"unknown\" : [ 1 , { \"a b\" : \" \\\" \" } ] }  ",
	`{"timestamp":0,"user":{"name":"ann","ro\u006ces":["x",{"id":1.0},[null,true]]},"a.b":"\ud800","":{"":[]},` +
		`"status":"done","log_rest":{"x":"y"},"proxy":[{"name":"log_rest","value":"and more"}],"tags":{"a":[1]}}`,
	`{"timestamp":0,"deep":[[[[[[[[[ 1 ,{"a" : "b"}],2]]]]]]]],` +
		`"list":[` + strings.Repeat("1,", 1100) + `[2]],"z":{"y":"x"}}`,
	`{"timestamp":9227000000000}`,
	`{"timestamp":-9223372036854775808}`,
	`{"timestamp":922337203685477581}`,
	`{"timestamp":10000000000}`,
	`[]`,
	`{}`,
	`{"timestamp":null}`,
	`{"timestamp":"yesterday"}`,
	`{"timestamp":"2026-01-02T03:04:05Z"`,
	`{"a":01}`,
	`nul`,
	``,
}

// fataler is the common part of testing.T and rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkLine decodes a line and reports whether it is a record. The test fails if the result, or the printed record,
// differs from that of encoding/json.
func checkLine(t fataler, d *record.Decoder, line []byte) bool {
	t.Helper()
	if len(line) > record.MaxLine {
		return false
	}
	want, wantCode := normalise(line)
	row := lake.Row{Source: "left over"}
	notes, err := d.Decode(line, &row)
	if code := codeOf(err); code != wantCode {
		t.Fatalf("%q: rejected as %q (%v), want %q", line, code, err, wantCode)
	}
	if err != nil {
		return false
	}
	text := record.AppendJSON(nil, &row, nil)
	got, err := parse(text)
	if err != nil || bytes.ContainsAny(text, "\n\r") || !utf8.Valid(text) {
		t.Fatalf("%q: printed %q, %v", line, text, err)
	}
	if a, b := exact(want), exact(got); !cmp.Equal(a, b) {
		t.Fatalf("%q: printed %q: %s", line, text, cmp.Diff(a, b))
	}
	if row.Source != "" || (row.RawLine != nil) != (notes != (record.Notes{})) {
		t.Fatalf("%q: notes %+v, source %q, raw line %v", line, notes, row.Source, row.RawLine)
	}
	if !utf8.Valid(line) && !notes.InvalidUTF8 {
		t.Fatalf("%q: invalid UTF-8 was not noted", line)
	}
	checkRest(t, line, &row)
	return true
}

// checkRest checks the pairs of what no field has.
func checkRest(t fataler, line []byte, row *lake.Row) {
	t.Helper()
	if row.Extra == nil && !slices.ContainsFunc(row.Proxy, func(p lake.Pair) bool { return p.Name == "log_rest" }) {
		if row.LogRest != nil {
			t.Fatalf("%q: every member is a field, but there are %q", line, row.LogRest)
		}
		return
	}
	var size int
	for _, p := range row.LogRest {
		if size += len(p.Value); !utf8.ValidString(p.Name) || !utf8.ValidString(p.Value) {
			t.Fatalf("%q: invalid UTF-8 in %q", line, p)
		}
	}
	if size > 3*len(line) { // an invalid byte becomes U+FFFD, which has three bytes
		t.Fatalf("%q: the values have %d bytes", line, size)
	}
}

func codeOf(err error) record.Code {
	if reject, ok := errors.AsType[*record.Reject](err); ok {
		return reject.Code
	}
	if err != nil {
		panic("Decode returned an error other than *Reject")
	}
	return ""
}

func parse(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// normalise returns the expected record of a line, or the code of its rejection.
func normalise(line []byte) (map[string]any, record.Code) {
	v, err := parse(line)
	if err != nil {
		return nil, record.BadJSON
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, record.NotObject
	}
	if v := object["timestamp"]; v == nil {
		return nil, record.NoTimestamp
	} else if _, isArray := v.([]any); isArray {
		return nil, record.BadTimestamp
	}
	timestamp, seconds, ok := normalTime(object["timestamp"])
	if !ok {
		return nil, record.BadTimestamp
	}
	object["timestamp"] = timestamp
	if _, has := object["time_period"]; !has {
		object["time_period"] = json.Number(fmt.Sprint(seconds))
	}
	for _, name := range []string{"headers", "cookies", "arguments", "path_parts", "session_ids"} {
		if list, ok := object[name].([]any); ok {
			object[name] = asObject(list)
		}
	}
	moveMisfits(object)
	return object, ""
}

// moveMisfits moves the values that their fields cannot have to an object log_rest. A member of that name gets another
// one.
func moveMisfits(object map[string]any) {
	misfits := map[string]any{}
	for name, value := range object {
		if value != nil && !fits(name, value) {
			misfits[name] = value
			delete(object, name)
			if name == "time_period" {
				_, seconds, _ := normalTime(object["timestamp"])
				object[name] = json.Number(fmt.Sprint(seconds))
			}
		}
	}
	if len(misfits) == 0 {
		return
	}
	if own, has := object["log_rest"]; has {
		name := "ingested_log_rest"
		for ; object[name] != nil; name = "ingested_" + name {
		}
		object[name] = own
	}
	object["log_rest"] = misfits
}

// fits reports whether a field can have a value, in whole or in part, or a literal of its type.
func fits(name string, value any) bool {
	is := func(names ...[]string) bool { return slices.Contains(slices.Concat(names...), name) }
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	some := func(one func(v any) bool) bool { return isList && len(list) == 0 || slices.ContainsFunc(list, one) }
	switch {
	case is(textNames, []string{"svcid", "svcsessionid"}):
		_, isText := value.(string)
		_, isNumber := value.(json.Number)
		return isText || isNumber
	case is(intNames):
		return isInteger(value)
	case is(secondNames):
		return literalOf(value) != ""
	case is(flagNames):
		return value == true || value == false || value == "true" || value == "false"
	case is(textLists):
		return some(isScalar)
	case name == "upstream_status":
		return some(func(v any) bool { return isInteger(v) && isInt64(literalOf(v)) })
	case name == "upstream_data":
		return some(isObject)
	case name == "trigger_counters", name == "security_config":
		return isObject(value)
	case name == "processing_stage":
		return isScalar(value)
	case is(pairNames):
		return fitsPairs(value)
	}
	return true
}

// fitsPairs reports whether a value is an object, or a list that is empty or has a name with a value.
func fitsPairs(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return true
	case []any:
		return len(v) == 0 || slices.ContainsFunc(v, func(element any) bool {
			pair, _ := element.(map[string]any)
			return fits("host", pair["name"]) && pair["value"] != nil
		})
	}
	return false
}

func isObject(v any) bool {
	_, is := v.(map[string]any)
	return is
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, json.Number, bool:
		return true
	}
	return false
}

// literalOf returns the text of a number, or a text that is exactly a JSON number, or "".
func literalOf(v any) string {
	text, isText := v.(string)
	if n, isNumber := v.(json.Number); isNumber {
		text, isText = n.String(), true
	}
	if !isText || !unix.MatchString(text) {
		return ""
	}
	return text
}

// isInteger reports whether a value is an integer of any size.
func isInteger(v any) bool {
	literal := literalOf(v)
	if literal == "" {
		return false
	}
	_, exponent, whole := strings.Cut(decimal(literal), "e")
	return !whole || !strings.HasPrefix(exponent, "-")
}

// isInt64 reports whether an integer has at most 64 bits.
func isInt64(literal string) bool {
	digits, exponent, _ := strings.Cut(decimal(literal), "e")
	if len(exponent) > 2 {
		return false
	}
	zeros, err := strconv.Atoi("0" + exponent)
	if err == nil {
		_, err = strconv.ParseInt(digits+strings.Repeat("0", zeros), 10, 64)
	}
	return err == nil
}

// asObject converts a list of {name, value} to an object. It returns any other list unchanged.
func asObject(list []any) any {
	object := map[string]any{}
	for _, element := range list {
		pair, _ := element.(map[string]any)
		name, isName := pair["name"].(string)
		value, isValue := pair["value"].(string)
		if !isName || !isValue || len(pair) != 2 {
			return list
		}
		switch old := object[name].(type) {
		case nil:
			object[name] = value
		case []any:
			object[name] = append(old, value)
		default:
			object[name] = []any{old, value}
		}
	}
	return object
}

var (
	iso = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt _](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d+))?)?` +
		` ?(?:[Zz]|([+-]\d\d)(?::?(\d\d))?)?$`)
	unix = regexp.MustCompile(`^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$`)
)

// normalTime returns the RFC 3339 text of a timestamp in UTC, and its whole seconds.
func normalTime(v any) (text string, seconds int64, ok bool) {
	s, isText := v.(string)
	if n, isNumber := v.(json.Number); isNumber {
		s, isText = n.String(), true
	}
	if isText && unix.MatchString(s) {
		return normalUnix(s)
	}
	m := iso.FindStringSubmatch(s)
	if !isText || m == nil {
		return "", 0, false
	}
	if m[3] == "" {
		m[3] = ":00"
	}
	zone := "+0000"
	if m[5] != "" {
		zone = m[5] + (m[6] + "00")[:2]
	}
	t, err := time.Parse("2006-01-02 15:04:05 -0700", m[1]+" "+m[2]+m[3]+" "+zone)
	if err != nil {
		return "", 0, false
	}
	t = t.UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return "", 0, false
	}
	text = t.Format("2006-01-02T15:04:05")
	if m[4] != "" {
		text += "." + m[4]
	}
	return text + "Z", t.Unix(), true
}

func normalUnix(s string) (text string, seconds int64, ok bool) {
	if _, exponent, has := strings.Cut(strings.ToLower(s), "e"); has && len(exponent) > 4 {
		return "", 0, false // out of range, and big.Rat would compute the number
	}
	value, _ := new(big.Rat).SetString(s)
	digits := 0
	if _, fraction, has := strings.Cut(s, "."); has {
		digits = len(fraction)
	}
	if strings.ContainsAny(s, "eE") && strings.Contains(strings.Split(strings.ToLower(s), "e")[0], ".") {
		digits = 9
	} else if strings.ContainsAny(s, "eE") {
		digits = 9
	}
	abs := new(big.Rat).Abs(value)
	atLeast := func(n int64) bool { return abs.Cmp(new(big.Rat).SetInt64(n)) >= 0 }
	if value.IsInt() {
		switch {
		case atLeast(1e17):
			value.Quo(value, big.NewRat(1e9, 1))
			digits = 9
		case atLeast(1e14):
			value.Quo(value, big.NewRat(1e6, 1))
			digits = 6
		case atLeast(1e11):
			value.Quo(value, big.NewRat(1e3, 1))
			digits = 3
		}
	}
	nanos := new(big.Rat).Mul(value, big.NewRat(1e9, 1))
	if digits > 9 || !nanos.IsInt() || !nanos.Num().IsInt64() {
		return "", 0, false
	}
	t := time.Unix(0, nanos.Num().Int64()).UTC()
	text = t.Format("2006-01-02T15:04:05.000000000")
	if digits == 0 {
		return text[:19] + "Z", t.Unix(), true
	}
	return text[:20+digits] + "Z", t.Unix(), true
}

// exact replaces numbers by texts that are equal for equal values.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		return "number " + decimal(v.String())
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = exact(v[i])
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, member := range v {
			object[name] = exact(member)
		}
		return object
	}
	return v
}

// decimal returns a JSON number as its significant digits and power of ten.
func decimal(literal string) string {
	mantissa, exponentText, _ := strings.Cut(strings.ToLower(literal), "e")
	exponent, _ := new(big.Int).SetString("0"+strings.TrimLeft(exponentText, "+-"), 10)
	if strings.HasPrefix(exponentText, "-") {
		exponent.Neg(exponent)
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	significant := strings.TrimRight(digits, "0")
	exponent.Add(exponent, big.NewInt(int64(len(digits)-len(significant)-len(fraction))))
	return sign + significant + "e" + exponent.String()
}

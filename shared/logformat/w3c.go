package logformat

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-faster/jx"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// w3c is the extended log format of the W3C, which IIS and Amazon CloudFront write. The directive #Fields lists the
// fields of the lines after it; see w3.org/TR/WD-logfile. The format is cloudfront if the fields are those of
// CloudFront, which have other units and another encoding.
type w3c struct {
	name   string
	fields *w3cFields // nil before the first directive
	localTime
}

// w3cFields are the fields of lines.
type w3cFields struct {
	columns    []variable
	date, time int  // the columns of the day and of the time of the day; -1 without such a column, or with a more precise one
	local      bool // they have no zone; otherwise they are in UTC
}

// The names of the formats.
const (
	w3cName        = "w3c"
	cloudFrontName = "cloudfront"
)

// cloudFront is the access log of Amazon CloudFront.
var cloudFront = w3c{name: cloudFrontName}

// timeTaken is the unit of durations that are whole milliseconds, as IIS writes them, or seconds with a decimal point.
const timeTaken = "ms or seconds"

// w3cVariables lists the fields that set a field of ours. Headers follow from their names, and all others are entries
// of proxy.
var w3cVariables = map[string]variable{
	"c-ip":         {role: roleClient},
	"cs-method":    {role: roleMethod},
	"cs-uri":       {role: roleTarget},
	"cs-uri-stem":  {role: rolePath},
	"cs-uri-query": {role: roleArguments},
	"cs-version":   {role: roleProtocol},
	"cs-host":      {role: roleAuthority},
	"s-port":       {role: rolePort},
	"sc-status":    {role: roleStatus},
	"sc-bytes":     {role: roleBytesSent},
	"cs-bytes":     {role: roleRequestLength},
	"time-taken":   {role: roleDuration, unit: timeTaken},
	"cs-username":  {name: "remote_user"},
	"c-port":       {name: "client_port"},
}

// cloudFrontVariables lists the fields of CloudFront that differ from those of w3cVariables, or are not among them. See
// docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html.
var cloudFrontVariables = map[string]variable{
	"timestamp(ms)":       {role: roleTime, unit: timeMilliseconds},
	"timestamp":           {role: roleTime, unit: timeSeconds},
	"time-taken":          {role: roleDuration, unit: timeSeconds},
	"origin-lbl":          {role: roleUpstreamTimes, unit: timeSeconds},
	"x-host-header":       {role: roleAuthority},
	"cs(host)":            {role: roleHostname},
	"cs-protocol-version": {role: roleProtocol},
	"x-edge-request-id":   {name: "request_id"},
	"x-forwarded-for":     {role: roleHeader, name: "x-forwarded-for"},
	"c-country":           {name: "country"},
	"asn":                 {name: "asn"},
	"ssl-protocol":        {role: roleProxy, name: "ssl_protocol"},
	"ssl-cipher":          {role: roleProxy, name: "ssl_cipher"},
}

// Name returns w3c or cloudfront.
func (f w3c) Name() string { return f.named(f.name) }

// Matches reports whether a line is the directive #Fields, or a record of CloudFront in JSON. Other lines do not
// show the format. Only CloudFront has fields that begin with x-edge-.
func (f w3c) Matches(line []byte) bool {
	if f.name == cloudFrontName && bytes.HasPrefix(line, []byte("{")) {
		return bytes.Contains(line, []byte(`"x-edge-`))
	}
	return bytes.HasPrefix(line, []byte(fieldsDirective)) &&
		bytes.Contains(line, []byte(" x-edge-")) == (f.name == cloudFrontName)
}

// After returns the format of the lines after a directive, which begins with '#'. All but #Fields change nothing.
func (f w3c) After(line []byte) (next Format, ok bool) {
	if bytes.HasPrefix(line, []byte(`"#`)) {
		line = unwrap(line)
	}
	if len(line) == 0 || line[0] != '#' {
		return nil, false
	}
	if list, ok := bytes.CutPrefix(line, []byte(fieldsDirective)); ok {
		f.fields = f.parseFields(strings.Fields(string(list)))
	}
	return f, true
}

// parseFields returns the fields with these names. If two have the same role, the first sets our field.
func (f w3c) parseFields(names []string) *w3cFields {
	fields := &w3cFields{}
	seen := map[role]bool{}
	for _, name := range names {
		v := f.variable(name)
		if v.role == roleTime || v.role.single() && seen[v.role] {
			v.role = roleProxy
		}
		seen[v.role] = true
		fields.columns = append(fields.columns, v)
	}
	date, time := slices.Index(names, "date"), slices.Index(names, "time")
	if date < 0 && time < 0 {
		date, time = slices.Index(names, "date-local"), slices.Index(names, "time-local")
		fields.local = true
	}
	fields.date, fields.time = date, time
	for _, i := range []int{date, time} {
		if i >= 0 {
			fields.columns[i].role = roleIgnored
		}
	}
	for _, name := range []string{"timestamp", "timestamp(ms)"} { // the last one that exists is the most precise time
		for i := range fields.columns {
			if f.name == cloudFrontName && names[i] == name {
				fields.setTime(i, cloudFrontVariables[name])
			}
		}
	}
	return fields
}

// setTime makes a column the time of the records.
func (f *w3cFields) setTime(column int, v variable) {
	for i := range f.columns {
		if f.columns[i].role == roleTime {
			f.columns[i].role = roleProxy
		}
	}
	f.columns[column].role, f.columns[column].unit = v.role, v.unit
	f.date, f.time = -1, -1
}

// variable returns what a field means.
func (f w3c) variable(name string) variable {
	lower := strings.ToLower(name)
	v, known := w3cVariables[lower]
	if of, ok := cloudFrontVariables[lower]; ok && f.name == cloudFrontName {
		v, known = of, true
	}
	if header, ok := strings.CutPrefix(name, "cs("); ok && !known {
		v, known = variable{role: roleHeader, name: strings.TrimSuffix(header, ")")}, true
	}
	if !known {
		v.role = roleProxy
	}
	if v.name == "" {
		v.name = name
	}
	v.text = name
	return v
}

// Complete sets url.
func (w3c) Complete(row *lake.Row) { complete(row) }

// Convert converts a line according to the last directive, or a record of CloudFront in JSON.
func (f w3c) Convert(dst, line []byte) ([]byte, error) {
	var values [][]byte
	if f.name == cloudFrontName && len(line) > 0 && line[0] == '{' {
		var names []string
		var err error
		if names, values, err = membersOf(line); err != nil {
			return nil, err
		}
		f.fields = f.parseFields(names)
	} else {
		if f.fields == nil {
			return nil, badLine("no directive #Fields before the line lists its fields")
		}
		values = splitW3C(line)
	}
	columns := f.fields.columns
	if n := len(values); n != len(columns) {
		noun := "values"
		if n == 1 {
			noun = "value"
		}
		return nil, badLine("the line has %d %s, but #Fields lists %d", n, noun, len(columns))
	}
	c := layoutLine{o: newObject(dst)}
	if f.fields.local {
		c.localTime = f.localTime
	}
	if err := f.setTime(&c, values); err != nil {
		return nil, stopped(err, line, values[max(f.fields.date, 0)])
	}
	for i, v := range columns {
		if err := c.set(v.decoded(f.name, values[i])); err != nil {
			return nil, stopped(err, line, values[i])
		}
	}
	return c.close(nil)
}

// membersOf returns the names and the values of the members of an object, the values as text.
func membersOf(line []byte) (names []string, values [][]byte, err error) {
	err = jx.DecodeBytes(line).ObjBytes(func(d *jx.Decoder, key []byte) error {
		names = append(names, string(key))
		value, ok := scalar(d)
		if !ok {
			if value, err = d.Raw(); err != nil {
				return err
			}
		}
		values = append(values, value)
		return nil
	})
	if err != nil {
		return nil, nil, &record.Reject{
			Code: record.BadJSON, Message: fmt.Sprintf("not a record of CloudFront: %v", err),
		}
	}
	return names, values, nil
}

// setTime writes the time of the record from its day and its time of the day, unless another column has it.
func (f w3c) setTime(c *layoutLine, values [][]byte) error {
	if f.fields.date < 0 && f.fields.time < 0 {
		return nil
	}
	if f.fields.date < 0 || f.fields.time < 0 {
		return badLine("#Fields does not list both date and time")
	}
	stamp := bytes.Join([][]byte{values[f.fields.date], values[f.fields.time]}, []byte(" "))
	return c.set(variable{role: roleTime, text: "date and time", unit: "2006-01-02 15:04:05"}, stamp)
}

// decoded returns the variable with the unit of the value, and the value as the client sent it. CloudFront encodes
// spaces and other characters of headers with percent signs. IIS writes a plus sign instead of each space.
func (v variable) decoded(format string, value []byte) (variable, []byte) {
	switch {
	case v.unit == timeTaken && bytes.IndexByte(value, '.') >= 0:
		v.unit = timeSeconds
	case v.unit == timeTaken:
		v.unit = timeMilliseconds
	case v.name == "asn" && format == cloudFrontName && isDigits(value):
		value = append([]byte("AS"), value...)
	case v.role == roleTarget && isHostFirst(value):
		value = append([]byte("http://"), value...)
	case v.role != roleHeader:
	case format == cloudFrontName && v.name == "User-Agent":
		value = decodePercent(decodePercent(value)) // it was encoded twice until 2020
	case format == cloudFrontName && v.name == "Cookie":
		value = bytes.ReplaceAll(value, []byte(";%20"), []byte("; "))
	case format == w3cName && v.name == "User-Agent" && bytes.IndexByte(value, ' ') < 0:
		value = bytes.ReplaceAll(value, []byte("+"), []byte(" "))
	case format == w3cName && v.name == "Cookie":
		value = bytes.ReplaceAll(value, []byte(";+"), []byte("; "))
	}
	return v, value
}

// isHostFirst reports whether a target begins with its host, without a scheme.
func isHostFirst(target []byte) bool {
	host := target
	if end := bytes.IndexAny(target, "/?"); end >= 0 {
		host = target[:end]
	}
	return isFullHost(host)
}

// decodePercent decodes %XX. It returns a text with an invalid encoding unchanged.
func decodePercent(text []byte) []byte {
	if bytes.IndexByte(text, '%') < 0 {
		return text
	}
	return unescapePercent(bytes.ReplaceAll(text, []byte("+"), []byte("%2B")))
}

// splitW3C returns the values of a line. Tabs separate them if the line has any, otherwise spaces, and then a value in
// double quotes may contain spaces and doubled quotes.
func splitW3C(line []byte) [][]byte {
	line = bytes.TrimRight(line, " \r")
	var values [][]byte
	if bytes.IndexByte(line, '\t') >= 0 {
		for more := true; more; {
			var value []byte
			value, line, more = bytes.Cut(line, []byte("\t"))
			values = append(values, value)
		}
		return values
	}
	for rest := line; len(rest) > 0; {
		var value []byte
		if rest[0] == '"' {
			value, rest = cutDoubled(rest)
		} else {
			value, rest, _ = bytes.Cut(rest, []byte(" "))
		}
		values = append(values, value)
		rest = bytes.TrimLeft(rest, " ")
	}
	return values
}

// cutDoubled cuts a value in quotes off the beginning of a text. Quotes in the value are doubled. Without a closing
// quote, the value is the word with its quote.
func cutDoubled(text []byte) (value, rest []byte) {
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i+1 < len(text) && text[i+1] == '"' {
			i++
			continue
		}
		if i+1 == len(text) || text[i+1] == ' ' {
			return bytes.ReplaceAll(text[1:i], []byte(`""`), []byte(`"`)), text[i+1:]
		}
	}
	value, rest, _ = bytes.Cut(text, []byte(" "))
	return value, rest
}

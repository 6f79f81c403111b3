package catalog

import (
	"regexp"
	"slices"
)

var byName = func() map[string]*Field {
	m := make(map[string]*Field, len(Fields))
	for i := range Fields {
		m[Fields[i].Name] = &Fields[i]
	}
	return m
}()

// Lookup returns the field with the given name, which is case-sensitive.
func Lookup(name string) (*Field, bool) {
	f, ok := byName[name]
	return f, ok
}

// Names returns the names of the fields in alphabetical order.
func Names() []string {
	names := make([]string, len(Fields))
	for i := range Fields {
		names[i] = Fields[i].Name
	}
	return names
}

// aliases maps names that other products use to names of fields. They are suggested, but not accepted.
var aliases = map[string]string{
	"_id": RecordRef, "permalink": RecordRef, "record_id": RecordRef,
	"args": "arguments", "bandwidth": "bytes_sent", "bytes": "bytes_sent", "client_ip": "ip", "code": "status",
	"cookie": "cookies", "date": "timestamp", "header": "headers", "latency": "request_time", "params": "arguments",
	"referrer": "referer", "remote_addr": "ip", "response_code": "status", "status_code": "status", "tag": "tags",
	"time": "timestamp", "ua": "user_agent", "uri": "path",
}

// Alias returns the field for a name that another product uses, or "".
func Alias(name string) string { return aliases[name] }

// Members returns the keys of a field with closed keys, in the order of the specification.
func (f *Field) Members() []string {
	if f.Keys != ClosedKeys {
		return nil
	}
	names := make([]string, len(f.Sources))
	for i, s := range f.Sources {
		names[i] = s.Name
	}
	return names
}

// Member returns the source that a key selects in a field with closed keys.
func (f *Field) Member(key string) (Source, bool) {
	i := slices.IndexFunc(f.Sources, func(s Source) bool { return s.Name == key })
	if f.Keys != ClosedKeys || i < 0 {
		return Source{}, false
	}
	return f.Sources[i], true
}

// NumericText matches text that numeric operators read as a number in values without a documented type. The number
// of digits is limited so that every such text is a normal double on every engine.
var NumericText = regexp.MustCompile(`\A` + NumericPattern + `\z`)

// NumericPattern is NumericText without its anchors, for engines that anchor in their own way.
const NumericPattern = `-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?`

// Output returns the columns that are needed to print the field's value in a record. They include extra, because it
// overrides the other columns, except for fields that no line has.
func (f *Field) Output() []string {
	switch {
	case f.Type == Time:
		return []string{"ts_ms", "ts_nanos", "ts_digits", "extra"}
	case f.Type == Reference, f.Name == LogRest:
		return f.Sources[0].Columns()
	case f.inDetails:
		return []string{"details", "extra"}
	}
	return []string{f.Sources[0].Column, "extra"}
}

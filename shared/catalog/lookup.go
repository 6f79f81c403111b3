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

// Lookup finds a field by its exact name.
func Lookup(name string) (*Field, bool) {
	f, ok := byName[name]
	return f, ok
}

// Names lists the fields, in alphabetical order.
func Names() []string {
	names := make([]string, len(Fields))
	for i := range Fields {
		names[i] = Fields[i].Name
	}
	return names
}

// aliases are names that other products give to our fields; they are suggested, never accepted.
var aliases = map[string]string{
	"args": "arguments", "bandwidth": "bytes_sent", "bytes": "bytes_sent", "client_ip": "ip", "code": "status",
	"cookie": "cookies", "date": "timestamp", "header": "headers", "latency": "request_time", "params": "arguments",
	"referrer": "referer", "remote_addr": "ip", "response_code": "status", "status_code": "status", "tag": "tags",
	"time": "timestamp", "ua": "user_agent", "uri": "path",
}

// Alias gives the field that another product's name for it means, or "".
func Alias(name string) string { return aliases[name] }

// Members lists the keys of a field with closed keys, in the order of the specification.
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

// Member finds the source that a key of a field with closed keys addresses.
func (f *Field) Member(key string) (Source, bool) {
	i := slices.IndexFunc(f.Sources, func(s Source) bool { return s.Name == key })
	if f.Keys != ClosedKeys || i < 0 {
		return Source{}, false
	}
	return f.Sources[i], true
}

// NumericText matches text that reads as a number: what numeric operators see in values of no documented
// type. The digits are bounded so that every such text is an ordinary double on every engine.
var NumericText = regexp.MustCompile(`\A` + NumericPattern + `\z`)

// NumericPattern is NumericText without its anchors, for engines that anchor in their own way.
const NumericPattern = `-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?`

// Output lists the columns that the field's value in a returned record is made of. extra belongs to every
// field, because it overrides what the other columns say.
func (f *Field) Output() []string {
	switch {
	case f.Type == Time:
		return []string{"ts_ms", "ts_nanos", "ts_digits", "extra"}
	case f.detailed:
		return []string{"details", "extra"}
	}
	return []string{f.Sources[0].Column, "extra"}
}

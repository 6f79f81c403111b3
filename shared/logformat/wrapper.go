package logformat

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/go-faster/jx"
)

// wrapper is what programs that collect logs write around every line.
type wrapper struct {
	name   string // of the lines, with the article
	unwrap func(line []byte) (inner []byte, ok bool)
	remedy string // a command that writes the lines inside
}

// wrappers lists the wrappers that errors name. Only the format haproxy-http is also read in one.
var wrappers = []wrapper{
	{"the lines of a container runtime (CRI)", without(criPattern), sed(criPattern)},
	{`the lines of Docker, {"log":…}`, dockerLog, "jq -j .log FILE"},
	{"the lines of syslog", without(syslogHeader), sed(syslogHeader)},
	{"the lines of syslog (RFC 5424)", without(syslogHeader5424), sed(syslogHeader5424)},
}

// The texts before the lines, as regular expressions that Go and sed -E read alike.
const (
	criPattern       = `^[0-9-]{10}T[^ ]+ (stdout|stderr) [FP] `
	syslogHeader     = `^(<[0-9]+>)?([A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}|[0-9-]{10}T[^ ]+) [^ ]+ [^ ]+: `
	syslogHeader5424 = `^<[0-9]+>1 [^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ (-|\[[^]]*\]) `
)

func sed(pattern string) string { return "sed -E 's/" + pattern + "//' FILE" }

// without returns a function that cuts a text off the beginning of a line.
func without(pattern string) func([]byte) ([]byte, bool) {
	compiled := regexp.MustCompile(pattern)
	return func(line []byte) ([]byte, bool) {
		found := compiled.FindIndex(line)
		if found == nil {
			return nil, false
		}
		return line[found[1]:], true
	}
}

// dockerLog returns the member log of an object.
func dockerLog(line []byte) (inner []byte, ok bool) {
	err := jx.DecodeBytes(line).ObjBytes(func(d *jx.Decoder, key []byte) (err error) {
		if string(key) == "log" && d.Next() == jx.String {
			inner, err = d.StrAppend(nil)
			return err
		}
		return d.Skip()
	})
	return bytes.TrimRight(inner, "\r\n"), err == nil && inner != nil
}

// Wrapped describes a wrapper in which the lines of a log are, what is inside, and what to do about it.
type Wrapped struct {
	Wrapper string   // with the article
	Format  string   // of the lines inside, or "" for JSON objects of no known format
	Map     []string // mappings that fit these objects; nil if none are found
	Remedy  string

	objects [][]byte // inside, if they have no known format
	isFile  bool     // the wrapper is around the whole log, not around each line; Wrapper begins with a verb
}

func (w *Wrapped) String() string {
	if w.isFile {
		return fmt.Sprintf("the log %s: import one object a line, %s | orrery import --as FILE -", w.Wrapper, w.Remedy)
	}
	inside, flags := "lines of the format "+w.Format, ""
	if w.Format == "" {
		inside, flags = "JSON objects", "--map FIELD=PATH "
	}
	return fmt.Sprintf("these are %s, and inside them are %s: import what is inside, %s | orrery import %s--as FILE -",
		w.Wrapper, inside, w.Remedy, flags)
}

// wrapped returns the wrapper in which lines of a known format or JSON objects are, or nil.
func wrapped(lines [][]byte) *Wrapped {
	for _, w := range wrappers {
		var objects [][]byte
		for _, line := range lines {
			inner, ok := w.unwrap(line)
			if !ok {
				continue
			}
			inner = bytes.TrimPrefix(inner, ByteOrderMark)
			if f := formatOf(inner); f >= 0 {
				return &Wrapped{Wrapper: w.name, Format: Formats[f].Name(), Remedy: w.remedy}
			}
			if bytes.HasPrefix(inner, []byte("{")) && jx.Valid(inner) {
				objects = append(objects, inner)
			}
		}
		if len(objects) > 0 {
			return &Wrapped{Wrapper: w.name, Remedy: w.remedy, objects: objects}
		}
	}
	return nil
}

// isList reports whether the first line of a log begins a list of objects in JSON.
func isList(first []byte) bool {
	inside, isList := bytes.CutPrefix(first, []byte("["))
	inside = bytes.TrimSpace(inside)
	return isList && (len(inside) == 0 || inside[0] == '{')
}

// unlined returns how a log in JSON that does not have one object a line is converted to one that does. It returns nil
// for any other first line.
func unlined(first []byte) *Wrapped {
	switch {
	case isList(first):
		return &Wrapped{Wrapper: "is a list in JSON", Remedy: "jq -c '.[]' FILE", isFile: true}
	case string(first) == "{":
		return &Wrapped{Wrapper: "has JSON objects of several lines", Remedy: "jq -c . FILE", isFile: true}
	}
	return nil
}

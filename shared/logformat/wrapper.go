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

// Wrapped describes a wrapper in which the lines of a log are, the format of the lines inside, and what to do about it.
type Wrapped struct{ Wrapper, Format, Remedy string }

func (w *Wrapped) String() string {
	return fmt.Sprintf("these are %s, and inside them are lines of the format %s: "+
		"import what is inside, %s | orrery import --as FILE -", w.Wrapper, w.Format, w.Remedy)
}

// wrapped returns the wrapper in which the first of the lines with a known format inside is, or nil.
func wrapped(lines [][]byte) *Wrapped {
	for _, line := range lines {
		for _, w := range wrappers {
			inner, ok := w.unwrap(line)
			if !ok {
				continue
			}
			if f := formatOf(bytes.TrimPrefix(inner, ByteOrderMark)); f >= 0 {
				return &Wrapped{w.name, Formats[f].Name(), w.remedy}
			}
		}
	}
	return nil
}

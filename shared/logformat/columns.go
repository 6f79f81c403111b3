package logformat

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// Columns returns a format string for a log of the format combined whose lines have further columns. It is the one that
// leaves no columns of most of the first lines, or "" if there is none: that of a known server, or one whose variables
// have the names column1, column2 …
func Columns(f Format, head []byte) string {
	if _, ok := f.(combined); !ok {
		return ""
	}
	var lines [][]byte
	seen := 0
	var candidates []string
	for line := range bytes.Lines(head) {
		if seen++; seen > detectLines {
			break
		}
		line = unwrap(bytes.TrimRight(bytes.TrimPrefix(line, ByteOrderMark), "\r\n"))
		if l, err := readCombined(nil, line); err == nil && len(dashToNil(l.rest)) > 0 {
			if lines = append(lines, line); candidates == nil {
				candidates = l.withColumns()
			}
		}
	}
	best, most := "", len(lines)/2
	for _, candidate := range candidates {
		if n := countComplete(candidate, lines); n > most {
			best, most = candidate, n
		}
	}
	return best
}

// countComplete returns the number of lines of which a format string leaves no text.
func countComplete(text string, lines [][]byte) (n int) {
	f, err := ByFormatString(text)
	if err != nil {
		return 0
	}
	for _, line := range lines {
		if record, err := f.Convert(nil, line); err == nil && !bytes.Contains(record, []byte(`"`+logRest+`"`)) {
			n++
		}
	}
	return n
}

// serverColumns are columns that servers write after the combined format: the controller of nginx for Kubernetes, also
// in older versions; Traefik; Apache with the duration.
var serverColumns = []struct {
	columns string
	apache  bool // they are variables of Apache
}{
	{ingressColumns + " [$proxy_alternative_upstream_name]" + ingressUpstream, false},
	{ingressColumns + ingressUpstream, false},
	{` %{requests}n "%{router}n" "%{server}n" %{ms}Tms`, true},
	{` %D`, true},
}

const (
	ingressColumns  = ` $request_length $request_time [$proxy_upstream_name]`
	ingressUpstream = ` $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $request_id`
)

var columnPattern = regexp.MustCompile(`^(?:"[^"]*"|\[[^\]]*\]|[^ ]+)(?: +|$)`)

// withColumns returns the format strings that the line may have, the preferred ones first.
func (l *combinedLine) withColumns() (candidates []string) {
	nginx, apache := `$remote_addr $ident $remote_user`, `%h %l %u`
	switch {
	case l.vhost != nil && l.ident == nil:
		nginx, apache = `$remote_addr $host $remote_user`, `%h %V %u`
	case l.vhost != nil:
		nginx, apache = `$host $remote_addr $ident $remote_user`, `%V %h %l %u`
	}
	nginx += ` [$time_local] "$request" $status $body_bytes_sent`
	apache += ` %t "%r" %>s %b`
	if l.agents {
		nginx += ` "$http_referer" "$http_user_agent"`
		apache += ` "%{Referer}i" "%{User-Agent}i"`
	}
	for _, server := range serverColumns {
		if server.apache {
			candidates = append(candidates, apache+server.columns)
		} else {
			candidates = append(candidates, nginx+server.columns)
		}
	}
	nginx += strings.Join(
		[]string{"", " $request_time", " $request_time $upstream_response_time"}[l.timings:l.timings+1], "",
	)
	rest := l.rest
	for n := 1; len(rest) > 0; n++ {
		column := columnPattern.Find(rest)
		if len(column) == 0 {
			return candidates
		}
		switch name := fmt.Sprint("$column", n); column[0] {
		case '"':
			nginx += ` "` + name + `"`
		case '[':
			nginx += ` [` + name + `]`
		default:
			nginx += " " + name
		}
		rest = rest[len(column):]
	}
	return append(candidates, nginx)
}

package logformat

import (
	"bytes"

	"github.com/orrery/orrery/shared/lake"
)

// native is NDJSON of the specification's records, in the shape of the API or of the gateway's engine. The decoder
// reads the lines as they are.
type native struct{}

func (native) Name() string { return "orrery" }

// Matches reports whether a line is a JSON object with a timestamp, except one of another format.
func (native) Matches(line []byte) bool {
	return bytes.HasPrefix(line, []byte("{")) &&
		bytes.Contains(line, []byte(`"timestamp"`)) &&
		!(awsWAF{}).Matches(line) && !cloudFront.Matches(line) && !nginxJSON.Matches(line)
}

func (native) Convert(dst, line []byte) ([]byte, error) {
	if inner := unwrap(line); len(inner) < len(line) && bytes.HasPrefix(inner, []byte("{")) {
		return append(dst, inner...), nil
	}
	return line, nil
}

// Complete does nothing: a field that is absent from the line was absent when it was recorded.
func (native) Complete(*lake.Row) {}

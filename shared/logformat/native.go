package logformat

import (
	"bytes"

	"github.com/orrery/orrery/shared/lake"
)

// native is NDJSON of the specification's records, in the API's shape or the engine's. Lines go to the decoder
// as they are.
type native struct{}

func (native) Name() string { return "orrery" }

// Matches takes any JSON object with a timestamp but for AWS WAF's.
func (native) Matches(line []byte) bool {
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"timestamp"`)) && !(awsWAF{}).Matches(line)
}

func (native) Convert(_, line []byte) ([]byte, error) { return line, nil }

// Complete does nothing: what a record lacks it lacked when it was recorded.
func (native) Complete(*lake.Row) {}

package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/logformat"
)

// refusal is a note that a log is refused as a whole.
type refusal struct {
	Key     string    `json:"key"`
	Version string    `json:"version,omitempty"`
	At      time.Time `json:"at"`
	Reason  string    `json:"reason"`

	// Of a log in JSON whose format is not known, the names of the members, and mappings that fit.
	Members string   `json:"members,omitempty"`
	Map     []string `json:"map,omitempty"`
}

// message returns the reason and what helps against it.
func (r refusal) message() string {
	text := r.Reason
	if r.Members != "" {
		text += "; its members are " + r.Members
	}
	if len(r.Map) > 0 {
		text += "; these mappings fit: " + logformat.MapFlags(r.Map)
	}
	return text
}

// What follows the key of a log in the names of the note that it is refused, and of its lines if none is a record.
const (
	refusalSuffix = ".json"
	linesSuffix   = ".ndjson"
)

// refuse writes a note that a log is refused as a whole, with the reason.
func (c *Store) refuse(ctx context.Context, log rawlog.Log, reason error) error {
	why := refusal{Key: log.Key, Version: log.Version, At: c.Now().UTC(), Reason: reason.Error()}
	if unknown, is := errors.AsType[*logformat.UnrecognizedError](reason); is {
		why.Members, why.Map = unknown.ShownMembers(), unknown.Map
	}
	note, err := json.MarshalIndent(why, "", "  ")
	if err != nil {
		return err
	}
	return c.Lake.Put(ctx, bucket.RefusedRoot+log.Key+refusalSuffix, bytes.NewReader(append(note, '\n')), blob.Always)
}

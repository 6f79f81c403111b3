package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Status describes the data, limits and routes of a server. A member is nil if the server cannot know it, or hides it
// from a key that is limited to branches. Times are texts in RFC 3339 format.
type Status struct {
	Version  string   `json:"version"`
	Engine   string   `json:"engine"`
	Extent   *Extent  `json:"extent"`           // the period of the records; nil if there are none
	Complete *string  `json:"complete_through"` // as in Meta
	Kept     *Kept    `json:"kept"`             // how long records are kept; nil: for ever, or not known
	Records  *int64   `json:"records"`
	Objects  *int     `json:"objects"` // number of objects with the records
	Bytes    *int64   `json:"bytes"`   // size of the objects
	Hours    []Hour   `json:"hours"`   // the hours with records among the newest 72, newest first
	Demo     bool     `json:"demo"`    // the records come from the demo, because nothing has been imported yet
	Ingest   *Ingest  `json:"ingest"`
	Price    *Price   `json:"price"` // nil if the engine charges nothing
	Limits   Limits   `json:"limits"`
	Features []string `json:"features"` // operation ids of the routes of the server
	Key      *Key     `json:"key"`      // the key of the request; nil if the server requires none
}

// Extent is the period of the records. Both ends are included.
type Extent struct {
	From *string `json:"from"`
	To   string  `json:"to"`
}

// Kept is how long records are kept.
type Kept struct {
	Hours int64  `json:"hours"`
	From  string `json:"from"` // older records have been removed
}

// Hour describes the objects of an hour.
type Hour struct {
	Partition string `json:"partition"` // such as 2026/01/01/10
	Objects   int    `json:"objects"`
	Records   *int64 `json:"records"`
	Bytes     int64  `json:"bytes"`
	Compacted bool   `json:"compacted"` // nothing is left to merge
}

// Ingest describes the imports of a server.
type Ingest struct {
	Watching    bool        `json:"watching"` // logs are imported when they are put into the folder or bucket of raw logs
	LastSource  *string     `json:"last_source"`
	LastAt      *string     `json:"last_at"`
	Quarantined Quarantined `json:"quarantined"`
}

// Quarantined describes the lines of imported logs that are not records.
type Quarantined struct {
	Lines      *int64  `json:"lines"`
	NewestCode *string `json:"newest_code"`
	Unreadable *string `json:"unreadable"` // name of a log whose file of such lines is damaged
}

// Price is the price of queries.
type Price struct {
	USDPerTB     float64 `json:"usd_per_tb"`
	MinimumBytes int64   `json:"minimum_bytes"` // charged for every query, even if it reads less
}

// Limits are the limits of requests and answers.
type Limits struct {
	Filter   int            `json:"filter_bytes"`
	Body     int            `json:"body_bytes"`
	Answer   int            `json:"answer_bytes"`
	Segments int            `json:"segments"`
	By       int            `json:"by"`    // maximum number of fields to group by
	Limit    map[string]int `json:"limit"` // the largest Question.Limit of each route
	Wait     *float64       `json:"wait_seconds"`
}

// Key describes an API key.
type Key struct {
	Name     string   `json:"name"`
	Scopes   []string `json:"scopes"`
	Branches []string `json:"branches"` // nil: all
	Expires  *string  `json:"expires"`  // nil: never
}

// Status returns the status of the server.
func (c *Client) Status(ctx context.Context) (Status, error) {
	response, err := c.Do(ctx, Request{Method: http.MethodGet, Path: "/status"})
	if err != nil {
		return Status{}, err
	}
	return DecodeStatus(response.Body)
}

// DecodeStatus decodes the answer of /status.
func DecodeStatus(body []byte) (Status, error) {
	var a struct {
		Data Status `json:"data"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return Status{}, fmt.Errorf("the answer does not have the format of the API: %w", err)
	}
	return a.Data, nil
}

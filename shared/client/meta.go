package client

// Meta describes an answer: its query, its cost, and what is missing in it. Times are texts in RFC 3339 format.
type Meta struct {
	Filter         string     `json:"filter"` // canonical, in the query-string form
	Fingerprint    string     `json:"fingerprint"`
	Period         Period     `json:"period"`
	SegmentSeconds int64      `json:"segment_seconds"`
	TZ             string     `json:"tz"` // the zone by whose clock segments begin; "" without Question.TZ
	NumOfRequests  *int64     `json:"num_of_requests"`
	Series         []Series   `json:"series"` // of a histogram
	Engine         string     `json:"engine"`
	ElapsedMS      float64    `json:"elapsed_ms"`
	EngineMS       float64    `json:"engine_ms"`
	QueueMS        float64    `json:"queue_ms"`
	Objects        *int       `json:"objects"`
	BytesScanned   int64      `json:"bytes_scanned"`
	RowsConsidered *int64     `json:"rows_considered"`
	CostUSD        *float64   `json:"cost_usd"` // nil if the engine charges nothing
	Skipped        []string   `json:"skipped"`  // unreadable objects, whose records are missing
	Truncated      *Truncated `json:"truncated"`
	Newest         *string    `json:"newest"`           // time of the newest record
	Oldest         *string    `json:"oldest"`           // of the oldest; nil also for keys that are limited to branches
	Complete       *string    `json:"complete_through"` // every log handed in before is in the data; nil if unknown
	Cached         *Cached    `json:"cached"`           // set if the answer of an earlier query was reused
	Split          bool       `json:"split"`
	Next           *string    `json:"next"` // of logs: cursor of the next page; nil on the last one
	Head           string     `json:"head"` // of logs: Question.Since of a later request for newer records

	Demo bool `json:"demo"` // the records are those of a demo day, because there are no others

	DryRun   bool      `json:"dry_run"`  // the query did not run; there is only an estimate
	Estimate *Estimate `json:"estimate"` // what was known before the query ran

	Diff        *Diff    `json:"diff"`
	Percentiles *Method  `json:"percentiles"`
	Saturated   []string `json:"saturated"` // members of the results with sums that may be beyond 64 bits
	Exact       *bool    `json:"exact"`     // whether every figure is exact and nothing is missing; nil in a dry run
	Late        *int64   `json:"late"`      // of logs with Question.Since: records that arrived too late for it; nil: not known
	Scope       *Scope   `json:"scope"`
	Unavailable string   `json:"unavailable"` // of values: why there is nothing to look at
}

// Diff describes the two sides of a diff.
type Diff struct {
	Selected Side       `json:"selected"`
	Baseline Side       `json:"baseline"`
	Small    bool       `json:"small"` // few requests are selected: findings may be chance
	Fields   []Compared `json:"fields"`
}

// Side defines one side of a diff.
type Side struct {
	NumOfRequests int64  `json:"num_of_requests"`
	Period        Period `json:"period"`
	Filter        string `json:"filter"`
	Except        string `json:"except"` // requests for which all of these conditions hold are not on this side
}

// Compared counts the values of a field in a diff.
type Compared struct {
	By                  string `json:"by"`
	Distinct            int64  `json:"distinct"`
	NumOfAbsentSelected int64  `json:"num_of_absent_selected"`
	NumOfAbsentBaseline int64  `json:"num_of_absent_baseline"`
}

// Method is how percentiles were computed.
type Method struct {
	Method string  `json:"method"`
	Digits int     `json:"digits"` // significant digits to which times were rounded down
	Error  float64 `json:"error"`  // the largest relative error
}

// Scope is the part of the period in which values were looked for.
type Scope struct {
	Objects int `json:"objects"`
	Of      int `json:"of"`
}

// Period is the period of a question. Both ends are included.
type Period struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Series describes a series of a histogram.
type Series struct {
	Series          *string `json:"series"`
	Kind            string  `json:"kind"`
	Total           int64   `json:"total"`
	SeriesTruncated bool    `json:"series_truncated"`
}

// Truncated is why an answer is not complete.
type Truncated struct {
	Reason string `json:"reason"` // limit: more records match; bytes: the answer is too large
}

// Cached is the age of the answer of an earlier query.
type Cached struct {
	AgeSeconds int64 `json:"age_seconds"`
}

// Estimate is what a question would read and cost. What is not known, or hidden from a key that is limited to branches,
// is nil.
type Estimate struct {
	Partitions *int         `json:"partitions"` // hours of the data
	Objects    *int         `json:"objects"`
	Rows       *int64       `json:"rows"`
	Bytes      *Range       `json:"bytes"` // what Meta.BytesScanned will be
	Columns    []ColumnSize `json:"columns"`
	CostUSD    *AmountRange `json:"cost_usd"` // what Meta.CostUSD will be
	WaitMS     *AmountRange `json:"wait_ms"`  // milliseconds to the answer
	Warnings   []string     `json:"warnings"` // what is not known, and why

	Lacking []LackingColumn `json:"lacking"` // columns that some of the objects do not have
}

// LackingColumn is a column that some objects do not have, because an earlier version wrote them.
type LackingColumn struct {
	Name    string `json:"name"`
	Objects int    `json:"objects"`
}

// Range is a range of whole numbers. Both ends are included.
type Range struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// AmountRange is a range of prices or times. Both ends are included.
type AmountRange struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// ColumnSize is a column that a question reads, and its size in the objects.
type ColumnSize struct {
	Name  string `json:"name"`
	Bytes *int64 `json:"bytes"` // compressed
}

package client

// Meta describes an answer: its query, its cost, and what is missing in it. Times are texts in RFC 3339 format.
type Meta struct {
	Filter         string     `json:"filter"` // canonical, in the query-string form
	Fingerprint    string     `json:"fingerprint"`
	Period         Period     `json:"period"`
	SegmentSeconds int64      `json:"segment_seconds"`
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
	Complete       *string    `json:"complete_through"` // every log handed in before is in the data; nil if unknown
	Cached         *Cached    `json:"cached"`           // set if the answer of an earlier query was reused
	Split          bool       `json:"split"`
	Next           *string    `json:"next"` // cursor of the next page; nil on the last one
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

package answer

// Meta describes an answer: its query, its cost, and what is missing in it.
type Meta struct {
	Filter         string     `json:"filter" doc:"Canonical filter, in the query-string form"`
	Fingerprint    string     `json:"fingerprint" doc:"Fingerprint of the filter, which is the same for every spelling"`
	Period         MetaPeriod `json:"period"`
	SegmentSeconds int64      `json:"segment_seconds,omitempty" doc:"Length of a segment"`
	TZ             string     `json:"tz,omitempty" doc:"Time zone of the segments, of today and of yesterday"`
	NumOfRequests  *int64     `json:"num_of_requests,omitempty" doc:"Matching requests, for facets and diff"`
	Engine         string     `json:"engine" enum:"scan,duckdb,rows,athena,trino,lists" doc:"The method that answered"`
	ElapsedMS      float64    `json:"elapsed_ms" doc:"Milliseconds from request to answer, waiting included"`
	EngineMS       float64    `json:"engine_ms" doc:"Milliseconds in the engine, which elapsed_ms includes"`
	Objects        *int       `json:"objects,omitempty" doc:"Parquet objects read; absent if the engine does not know it"`
	ObjectsReused  int        `json:"objects_reused,omitempty" doc:"Further objects of the period that were not read, because an earlier query had counted the same in them; absent if there are none, or for a key that is limited to branches"`
	BytesScanned   int64      `json:"bytes_scanned" doc:"Compressed bytes of the columns read"`
	RowsConsidered *int64     `json:"rows_considered,omitempty" doc:"Records in the objects read; absent if objects is absent"`
	Skipped        []string   `json:"skipped,omitempty" doc:"Objects that could not be read; their records are missing"`
	Truncated      *Truncated `json:"truncated,omitempty" doc:"Present if the answer is not complete"`
	Newest         *string    `json:"newest" nullable:"true" doc:"Time of the newest record when the request began; for a key that is limited to branches, only its minute"`
	Oldest         *string    `json:"oldest" nullable:"true" doc:"Time of the oldest record when the request began; null if there is none, or for a key that is limited to branches"`
	Complete       *string    `json:"complete_through" nullable:"true" doc:"Every log handed in before this time is in the data, or was refused; null if unknown"`

	Lists []ListMeta `json:"lists,omitempty" doc:"The lists of values that the filters name, in the versions that were used"`

	Demo bool `json:"demo,omitempty" doc:"The records come from the demo, because there are no others"`

	Diff   *DiffMeta   `json:"diff,omitempty" doc:"The two sides of a diff"`
	Effect *EffectMeta `json:"effect,omitempty" doc:"For an effect: the moment and the two periods that are compared"`
	// Only logs have the following. Next is a pointer to nil if there is no next page.
	Next **string `json:"next,omitempty" nullable:"true" doc:"For logs: the parameter cursor of the next page; null on the last page"`
	Head string   `json:"head,omitempty" doc:"For logs: the parameter since of a later request for newer records"`
	// Late is a pointer to nil if the request has since, and the number is not known.
	Late        **int64          `json:"late,omitempty" nullable:"true" doc:"For logs with since: number of matching records that arrived after the token was made, but are too old to be returned; null if not known"`
	Percentiles *PercentilesMeta `json:"percentiles,omitempty" doc:"Present if percentiles were asked for"`

	DryRun   bool      `json:"dry_run,omitempty" doc:"The query did not run; there is only an estimate"`
	Estimate *Estimate `json:"estimate,omitempty" doc:"The estimate that was made before the query ran"`

	// Marks is a pointer to an empty list if there are none.
	Marks *[]Mark `json:"marks,omitempty" doc:"For timeline and histogram with marks: changes of settings in the period, in the order of time"`

	Series []SeriesMeta `json:"series,omitempty" doc:"The series of a histogram, in the order of the results of a segment"`

	Exact       *bool     `json:"exact,omitempty" doc:"Whether every figure is exact: no object was skipped, no time is rounded, no sum is saturated, and, for values, all data of the period was searched; absent in a dry run"`
	Saturated   []string  `json:"saturated,omitempty" doc:"Members of the results whose sums may exceed 64 bits: some values are the largest or smallest 64-bit integer, or a mean computed from it"`
	Scope       *LookedAt `json:"scope,omitempty" doc:"For values: how much of the data was searched; absent for keys limited to branches"`
	Unavailable string    `json:"unavailable,omitempty" doc:"For values: why there is nothing to search"`

	// The following are set only by engines that run as a service.
	QueueMS float64  `json:"queue_ms,omitempty" doc:"Milliseconds in the engine's own queue"`
	CostUSD *float64 `json:"cost_usd,omitempty" doc:"Price of the query; absent if the engine charges nothing"`
	Cached  *Cached  `json:"cached,omitempty" doc:"Present if the answer of an earlier equal query was reused"`
	Split   bool     `json:"split,omitempty" doc:"The engine ran the query in parts for lack of resources"`

	Unrounded *int64 `json:"-"` // of BytesScanned; nil if they are not rounded. Callers do not see it.
}

// MetaPeriod is the period of the request. Both ends are included.
type MetaPeriod struct {
	From string `json:"from" doc:"Beginning of the period, RFC 3339, UTC"`
	To   string `json:"to" doc:"End of the period, RFC 3339, UTC"`
}

// ListMeta is a version of a list of values.
type ListMeta struct {
	List        string `json:"list" doc:"CONFIGURATION/NAME, or only the name if the configuration is prod"`
	Version     int    `json:"version"`
	NumOfValues int    `json:"num_of_values"`
}

// Truncated describes why an answer is not complete.
type Truncated struct {
	Reason string `json:"reason" enum:"limit,bytes" doc:"limit: more records match; bytes: the answer is too large"`
}

// Cached is the age of the answer of an earlier query.
type Cached struct {
	AgeSeconds int64 `json:"age_seconds" doc:"Age of the reused answer in seconds, rounded up"`
}

// SeriesMeta describes a series of a histogram.
type SeriesMeta struct {
	Series          *string `json:"series" nullable:"true" doc:"The value, if the kind of the series is value; otherwise null"`
	Kind            string  `json:"kind" enum:"value,other,absent,all" doc:"other: the sum over all other values"`
	Total           int64   `json:"total" doc:"Sum over the segments"`
	SeriesTruncated bool    `json:"series_truncated,omitempty" doc:"series is cut and ends with its hash"`
}

// DiffMeta describes the two sides of a diff.
type DiffMeta struct {
	Selected DiffSideMeta   `json:"selected"`
	Baseline DiffSideMeta   `json:"baseline"`
	Small    bool           `json:"small,omitempty" doc:"Present if fewer than 30 requests are selected: findings may be chance"`
	Fields   []DiffTermMeta `json:"fields" doc:"The fields that were compared, in the order of the request"`
}

// DiffSideMeta defines one side of a diff.
type DiffSideMeta struct {
	NumOfRequests int64      `json:"num_of_requests"`
	Period        MetaPeriod `json:"period"`
	Filter        string     `json:"filter" doc:"Canonical filter of this side"`
	Except        string     `json:"except,omitempty" doc:"Conditions; requests for which all of them hold are not on this side"`
}

// DiffTermMeta counts the values of a field in a diff.
type DiffTermMeta struct {
	By                  string `json:"by"`
	Distinct            int64  `json:"distinct" doc:"Exact number of different values on both sides"`
	NumOfAbsentSelected int64  `json:"num_of_absent_selected" doc:"Selected requests without a value"`
	NumOfAbsentBaseline int64  `json:"num_of_absent_baseline" doc:"Requests of the baseline without a value"`
}

// PercentilesMeta describes how percentiles are computed.
type PercentilesMeta struct {
	Method string  `json:"method" doc:"nearest rank: p90, for example, is the smallest time that at least 90 percent of the requests do not exceed"`
	Digits int     `json:"digits" doc:"Significant digits to which times are rounded down before percentiles are computed"`
	Error  float64 `json:"error" doc:"Largest relative error due to rounding; a percentile is never larger than the exact one"`
}

// LookedAt is the part of the period in which values were sought.
type LookedAt struct {
	Objects int `json:"objects" doc:"Objects that were searched, the newest first"`
	Of      int `json:"of" doc:"Objects of the period"`
}

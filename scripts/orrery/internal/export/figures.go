package export

import "encoding/json"

// figures are what an answer cost. Those of all records are the sums over the requests for them: an object that two
// requests have read counts twice.
type figures struct {
	ElapsedMS      float64  `json:"elapsed_ms"`
	EngineMS       float64  `json:"engine_ms"`
	BytesScanned   int64    `json:"bytes_scanned"`
	QueueMS        float64  `json:"queue_ms,omitempty"`
	Objects        *int64   `json:"objects,omitempty"`
	RowsConsidered *int64   `json:"rows_considered,omitempty"`
	CostUSD        *float64 `json:"cost_usd,omitempty"`

	requests int
}

// add adds the figures of a request; nil: none.
func (f *figures) add(more *figures) {
	if more == nil {
		return
	}
	f.requests++
	f.ElapsedMS += more.ElapsedMS
	f.EngineMS += more.EngineMS
	f.BytesScanned += more.BytesScanned
	f.QueueMS += more.QueueMS
	f.Objects = sum(f.Objects, more.Objects)
	f.RowsConsidered = sum(f.RowsConsidered, more.RowsConsidered)
	f.CostUSD = sum(f.CostUSD, more.CostUSD)
}

// sum returns the sum of two figures. An unknown figure counts as zero.
func sum[N int64 | float64](a, b *N) *N {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := *a + *b
	return &both
}

// replaceIn replaces the figures of a meta. It removes the estimate of one of several requests.
func (f *figures) replaceIn(meta object) error {
	if f.requests < 2 {
		return nil
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	delete(meta, "estimate")
	return json.Unmarshal(text, &meta)
}

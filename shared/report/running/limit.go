package running

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync/atomic"

	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/reporting"
)

// limitError is the error of a report that reads more than it may.
type limitError struct {
	bytes, most int64
	read        bool // otherwise it would read them
}

func (e *limitError) Error() string {
	verb := "would read"
	if e.read {
		verb = "have read"
	}
	return fmt.Sprintf("its queries %s %d bytes, and max_bytes is %d", verb, e.bytes, e.most)
}

// makeWithin makes the report of a setting. The error is a *limitError if its questions would read more than most bytes,
// which is 0 for no limit. If the engine cannot estimate that, no further question is asked when the answers have read
// more.
func makeWithin(
	ctx context.Context, source reporting.Source, s report.Setting, most int64,
) (model report.Report, err error) {
	if most == 0 {
		return reporting.Make(ctx, source, s, nil)
	}
	bytes, known, err := estimate(ctx, source, s)
	switch {
	case err != nil:
		return model, err
	case bytes > most:
		return model, &limitError{bytes: bytes, most: most}
	case known:
		return reporting.Make(ctx, source, s, nil)
	}
	meter := &metered{Source: source, most: most}
	model, err = reporting.Make(ctx, meter, s, nil)
	if over := meter.over(); over != nil {
		return model, over
	}
	return model, err
}

// estimate returns how many bytes the questions of a report would read at most. known is false if that is not known of
// some of them.
func estimate(ctx context.Context, source reporting.Source, s report.Setting) (bytes int64, known bool, err error) {
	known = true
	for _, q := range s.Questions() {
		params := maps.Clone(q.Params)
		params["dry_run"] = "true"
		body, err := source.Ask(ctx, q.Route, params)
		if err != nil {
			return 0, false, fmt.Errorf("estimate what the report reads: %w", err)
		}
		var answer struct {
			Meta struct {
				Estimate struct {
					Bytes *struct {
						High int64 `json:"high"`
					} `json:"bytes"`
				} `json:"estimate"`
			} `json:"meta"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return 0, false, fmt.Errorf("estimate what the report reads: %w", err)
		}
		if answer.Meta.Estimate.Bytes == nil {
			known = false
			continue
		}
		bytes += answer.Meta.Estimate.Bytes.High
	}
	return bytes, known, nil
}

// metered is a source that answers until its answers have read more than most bytes.
type metered struct {
	reporting.Source
	most int64
	read atomic.Int64
}

// over returns a *limitError if the answers have read too much, otherwise nil.
func (m *metered) over() error {
	if read := m.read.Load(); read > m.most {
		return &limitError{bytes: read, most: m.most, read: true}
	}
	return nil
}

// Ask implements reporting.Source.
func (m *metered) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	if err := m.over(); err != nil {
		return nil, err
	}
	body, err := m.Source.Ask(ctx, route, params)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Meta struct {
			BytesScanned int64 `json:"bytes_scanned"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("read how many bytes a question has read: %w", err)
	}
	m.read.Add(answer.Meta.BytesScanned)
	return body, nil
}

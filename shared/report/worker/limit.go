package worker

import (
	"context"
	"fmt"
	"sync"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/search"
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
// which is 0 for no limit. Where that cannot be estimated, only a few questions are asked at the same time, and no
// further one when the answers have read more.
func makeWithin(
	ctx context.Context, source asking.Source, s report.Setting, most int64, atOnce int,
) (model report.Report, err error) {
	if most == 0 {
		return asking.Make(ctx, source, s, atOnce, nil)
	}
	bytes, known, err := estimate(ctx, source, s, atOnce)
	switch {
	case err != nil:
		return model, err
	case bytes > most:
		return model, &limitError{bytes: bytes, most: most}
	case known:
		return asking.Make(ctx, source, s, atOnce, nil)
	}
	meter := &metered{Source: source, most: most}
	model, err = asking.Make(ctx, meter, s, inquiry.Few, nil)
	if over := meter.over(); over != nil {
		return model, over
	}
	return model, err
}

// estimate returns how many bytes the questions of a report would read at most. known is false if that is not known of
// some of them. A question that always fails reads nothing, and its part is missing in the report. Any other failure
// may pass, so it is returned as an error.
func estimate(
	ctx context.Context, source asking.Source, s report.Setting, atOnce int,
) (bytes int64, known bool, err error) {
	known = true
	var estimates []*search.Estimate // that have bytes
	for _, one := range asking.DryRun(ctx, source, s, atOnce) {
		switch {
		case one.Err != nil && alwaysFails(one.Err):
		case one.Err != nil:
			return 0, false, one.Err
		case one.Meta.Estimate.Bytes == nil:
			known = false
		default:
			estimates = append(estimates, one.Meta.Estimate)
			known = known && !one.Part.Several() // what follows from the first of them is not estimated
		}
	}
	return search.Sum(estimates, atOnce).Bytes.High, known, nil
}

// alwaysFails reports whether a question that failed would fail later, too.
func alwaysFails(err error) bool {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.TooLarge, fault.EngineLimit, fault.RegexRefused:
		return true
	}
	return false
}

// metered is a source that answers until its answers have read more than most bytes.
type metered struct {
	asking.Source
	most int64

	mutex sync.Mutex
	read  []*search.Estimate // of each answer
}

// over returns a *limitError if the answers have read too much, otherwise nil.
func (m *metered) over() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if read := search.Sum(m.read, 0).Bytes.High; read > m.most {
		return &limitError{bytes: read, most: m.most, read: true}
	}
	return nil
}

// Ask implements asking.Source.
func (m *metered) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	if err := m.over(); err != nil {
		return nil, err
	}
	body, err := m.Source.Ask(ctx, route, params)
	if err != nil {
		return nil, err
	}
	answer, err := inquiry.Read(body)
	if err != nil {
		return nil, fmt.Errorf("read how many bytes a question has read: %w", err)
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.read = append(m.read, answer.Scanned())
	return body, nil
}

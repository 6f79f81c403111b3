package representation

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/search"
)

// metaHeader is a response header with a part of meta, for representations that do not contain it.
type metaHeader struct {
	name, doc string
	value     func(m *search.Meta) string // "": no such header
}

var metaHeaders = []metaHeader{
	{"X-Orrery-Complete-Through", "The value of meta.complete_through.", func(m *search.Meta) string {
		if m.Complete == nil {
			return ""
		}
		return *m.Complete
	}},
	{"X-Orrery-Skipped", "How many objects could not be read; their records are missing.", func(m *search.Meta) string {
		return strconv.Itoa(len(m.Skipped))
	}},
	{"X-Orrery-Truncated", "The value of meta.truncated.reason; absent if the answer is complete.",
		func(m *search.Meta) string {
			if m.Truncated == nil {
				return ""
			}
			return m.Truncated.Reason
		}},
	{"X-Orrery-Saturated", "The columns whose sums may exceed 64 bits, separated by commas, as in meta.saturated; " +
		"absent if there are none.", func(m *search.Meta) string { return strings.Join(m.Saturated, ", ") }},
	{"X-Orrery-Next", "The parameter cursor of the next page, as in meta.next; absent on the last page.",
		func(m *search.Meta) string {
			if m.Next == nil || *m.Next == nil {
				return ""
			}
			return **m.Next
		}},
	{"X-Orrery-Head", "The value of meta.head.", func(m *search.Meta) string { return m.Head }},
	{"X-Orrery-Late", "The value of meta.late; unknown if it is null; absent without since.", func(m *search.Meta) string {
		switch {
		case m.Late == nil:
			return ""
		case *m.Late == nil:
			return "unknown"
		}
		return strconv.FormatInt(**m.Late, 10)
	}},
	{"X-Orrery-Demo", "The value of meta.demo; absent if it is false.", func(m *search.Meta) string {
		if !m.Demo {
			return ""
		}
		return "true"
	}},
	{"X-Orrery-Num-Of-Requests", "The value of meta.num_of_requests.", func(m *search.Meta) string {
		if m.NumOfRequests == nil {
			return ""
		}
		return strconv.FormatInt(*m.NumOfRequests, 10)
	}},
	{"X-Orrery-Exact", "The value of meta.exact.", func(m *search.Meta) string {
		if m.Exact == nil {
			return ""
		}
		return strconv.FormatBool(*m.Exact)
	}},
	{"X-Orrery-Percentiles-Error", "The value of meta.percentiles.error, such as 0.01; absent without percentiles.",
		func(m *search.Meta) string {
			if m.Percentiles == nil {
				return ""
			}
			return strconv.FormatFloat(m.Percentiles.Error, 'f', -1, 64)
		}},
	{"X-Orrery-Cached-Age", "The value of meta.cached.age_seconds; absent if no earlier answer was reused.",
		func(m *search.Meta) string {
			if m.Cached == nil {
				return ""
			}
			return strconv.FormatInt(m.Cached.AgeSeconds, 10)
		}},
	{"X-Orrery-Bytes-Scanned", "The value of meta.bytes_scanned.", func(m *search.Meta) string {
		return strconv.FormatInt(m.BytesScanned, 10)
	}},
	{"X-Orrery-Cost-USD", "The value of meta.cost_usd; absent if queries cost nothing.", func(m *search.Meta) string {
		if m.CostUSD == nil {
			return ""
		}
		return dollars(*m.CostUSD)
	}},
	{"X-Orrery-Estimated-Bytes", "The range in meta.estimate.bytes, such as 4096-8192; absent if it was not known.",
		func(m *search.Meta) string {
			if m.Estimate == nil || m.Estimate.Bytes == nil {
				return ""
			}
			return fmt.Sprintf("%d-%d", m.Estimate.Bytes.Low, m.Estimate.Bytes.High)
		}},
	{"X-Orrery-Estimated-Cost-USD", "The range in meta.estimate.cost_usd, such as 0.00005-0.0001; absent if it " +
		"was not known, or the engine charges nothing.", func(m *search.Meta) string {
		if m.Estimate == nil || m.Estimate.CostUSD == nil {
			return ""
		}
		return dollars(m.Estimate.CostUSD.Low) + "-" + dollars(m.Estimate.CostUSD.High)
	}},
}

// Documented returns the media types other than JSON, and the docs of the headers that only such answers have.
func (o Offers) Documented() (texts []string, headers map[string]string) {
	for _, mediaType := range []string{content.CSV, content.NDJSON} {
		if slices.Contains(o, mediaType) {
			texts = append(texts, mediaType)
		}
	}
	const notJSON = " Answers in JSON do not have this header."
	headers = map[string]string{"Content-Disposition": "Name of a file to save the answer in." + notJSON}
	for _, one := range metaHeaders {
		headers[one.name] = one.doc + notJSON
	}
	return texts, headers
}

// dollars prints a price without an exponent.
func dollars(price float64) string { return strconv.FormatFloat(price, 'f', -1, 64) }

// SetHeaders sets the headers of an answer of a route that has no meta in its body.
func (c Choice) SetHeaders(h http.Header, to search.Route, meta search.Meta) {
	if c.MediaType == content.JSON {
		return
	}
	for _, one := range metaHeaders {
		if value := one.value(&meta); value != "" {
			h.Set(one.name, value)
		}
	}
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", fileName(c, to, meta)))
}

// fileName returns the name under which a browser saves an answer. It shows when records are missing.
func fileName(f Choice, to search.Route, meta search.Meta) string {
	name := fmt.Sprintf("orrery-%s-%s", to, periodName(meta.Period))
	if len(meta.Skipped) > 0 || meta.Truncated != nil && meta.Truncated.Reason == "bytes" {
		name += "-incomplete"
	}
	if f.MediaType == content.NDJSON {
		return name + ".ndjson"
	}
	return name + ".csv"
}

// periodName returns a period as 20260101T2000-2200, or with both days if they differ.
func periodName(p search.MetaPeriod) string {
	from, to := minuteOf(p.From), minuteOf(p.To)
	if from[:8] == to[:8] {
		to = to[9:]
	}
	return from + "-" + to
}

func minuteOf(instant string) string {
	t, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		panic("representation: the period of an answer: " + err.Error()) // package search has printed it
	}
	return t.Format("20060102T1504")
}

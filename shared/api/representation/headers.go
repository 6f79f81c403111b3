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
	{"X-Orrery-Complete-Through", "As complete_through of meta.", func(m *search.Meta) string {
		if m.Complete == nil {
			return ""
		}
		return *m.Complete
	}},
	{"X-Orrery-Skipped", "How many objects could not be read; their records are missing.", func(m *search.Meta) string {
		return strconv.Itoa(len(m.Skipped))
	}},
	{"X-Orrery-Truncated", "As the reason of truncated in meta; absent if the answer is complete.",
		func(m *search.Meta) string {
			if m.Truncated == nil {
				return ""
			}
			return m.Truncated.Reason
		}},
	{"X-Orrery-Saturated", "As saturated of meta, with commas: the columns whose sums may exceed 64 bits; absent if " +
		"there are none.", func(m *search.Meta) string { return strings.Join(m.Saturated, ", ") }},
	{"X-Orrery-Next", "As next of meta: the parameter cursor of the next page; absent on the last page.",
		func(m *search.Meta) string {
			if m.Next == nil || *m.Next == nil {
				return ""
			}
			return **m.Next
		}},
	{"X-Orrery-Head", "As head of meta.", func(m *search.Meta) string { return m.Head }},
	{"X-Orrery-Late", "As late of meta, or unknown if that is null; absent without since.", func(m *search.Meta) string {
		switch {
		case m.Late == nil:
			return ""
		case *m.Late == nil:
			return "unknown"
		}
		return strconv.FormatInt(**m.Late, 10)
	}},
	{"X-Orrery-Demo", "As demo of meta; absent if it is false.", func(m *search.Meta) string {
		if !m.Demo {
			return ""
		}
		return "true"
	}},
	{"X-Orrery-Num-Of-Requests", "As num_of_requests of meta.", func(m *search.Meta) string {
		if m.NumOfRequests == nil {
			return ""
		}
		return strconv.FormatInt(*m.NumOfRequests, 10)
	}},
	{"X-Orrery-Exact", "As exact of meta.", func(m *search.Meta) string {
		if m.Exact == nil {
			return ""
		}
		return strconv.FormatBool(*m.Exact)
	}},
	{"X-Orrery-Percentiles-Error", "The error of percentiles in meta, as 0.01; absent if they were not asked for.",
		func(m *search.Meta) string {
			if m.Percentiles == nil {
				return ""
			}
			return strconv.FormatFloat(m.Percentiles.Error, 'f', -1, 64)
		}},
	{"X-Orrery-Cached-Age", "The age of cached in meta, in seconds, at most; absent if no earlier answer was reused.",
		func(m *search.Meta) string {
			if m.Cached == nil {
				return ""
			}
			return strconv.FormatInt(m.Cached.AgeSeconds, 10)
		}},
	{"X-Orrery-Bytes-Scanned", "As bytes_scanned of meta.", func(m *search.Meta) string {
		return strconv.FormatInt(m.BytesScanned, 10)
	}},
	{"X-Orrery-Cost-USD", "As cost_usd of meta; absent if the engine charges nothing.", func(m *search.Meta) string {
		if m.CostUSD == nil {
			return ""
		}
		return dollars(*m.CostUSD)
	}},
	{"X-Orrery-Estimated-Bytes", "The bytes of estimate in meta, as 4096-8192; absent if they were not known.",
		func(m *search.Meta) string {
			if m.Estimate == nil || m.Estimate.Bytes == nil {
				return ""
			}
			return fmt.Sprintf("%d-%d", m.Estimate.Bytes.Low, m.Estimate.Bytes.High)
		}},
	{"X-Orrery-Estimated-Cost-USD", "The cost_usd of estimate in meta, as 0.00005-0.0001; absent if it was not known, " +
		"or the engine charges nothing.", func(m *search.Meta) string {
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
	headers = map[string]string{"Content-Disposition": "Name of a file to save the answer in. Not with JSON."}
	for _, one := range metaHeaders {
		headers[one.name] = one.doc + " Not with JSON."
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

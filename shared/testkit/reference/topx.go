package reference

import (
	"cmp"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateTopX returns the top keys of every label. They are ordered by label, then blocked requests and all requests,
// both descending, then key.
func evaluateTopX(shape query.TopX, rows []*lake.Row) []query.TopXRow {
	var all []query.TopXRow
	for _, label := range query.Labels {
		if !shape.Has(label) {
			continue
		}
		ranked := rankedKeys(label, shape.Percentiles, rows)
		top := ranked[:min(len(ranked), shape.Limit)]
		slices.SortFunc(top, byBlocked)
		all = append(all, top...)
	}
	return all
}

// rankedKeys returns the figures of every key of a label, the highest rank first. Labels about a time rank by its
// average, and omit keys without that time.
func rankedKeys(label string, withPercentiles bool, rows []*lake.Row) []query.TopXRow {
	groups := map[string][]*lake.Row{}
	for _, r := range rows {
		for _, key := range keysOf(label, r) {
			groups[key] = append(groups[key], r)
		}
	}
	timeOf, ranksByTime := rankedTimes[label]
	var ranked []query.TopXRow
	for key, in := range groups {
		row := sumTopX(label, key, in)
		if withPercentiles {
			row.Percentiles = percentiles(in)
		}
		if !ranksByTime || timeOf(row).Count > 0 {
			ranked = append(ranked, row)
		}
	}
	slices.SortFunc(ranked, func(a, b query.TopXRow) int {
		if !ranksByTime {
			return byBlocked(a, b)
		}
		return cmp.Or(
			cmp.Compare(timeOf(b).Average(), timeOf(a).Average()),
			cmp.Compare(b.Requests, a.Requests),
			cmp.Compare(a.Key, b.Key),
		)
	})
	return ranked
}

var rankedTimes = map[string]func(query.TopXRow) query.Times{
	"origin_time": func(r query.TopXRow) query.Times { return r.Origin },
	"svc_time":    func(r query.TopXRow) query.Times { return r.Svc },
	"total_time":  func(r query.TopXRow) query.Times { return r.Total },
}

func byBlocked(a, b query.TopXRow) int {
	return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Key, b.Key))
}

// keysOf lists the keys under which a record counts for a label. The list is empty if the record lacks the field.
func keysOf(label string, r *lake.Row) []string {
	switch label {
	case "country":
		return present(r.Country)
	case "host":
		return present(r.Host)
	case "ip":
		return present(r.IP)
	case "organization":
		return present(r.Organization)
	case "reason":
		reasons := slices.Concat(present(r.Reason), r.MonitorReasons)
		slices.Sort(reasons)
		return slices.Compact(reasons)
	case "referer":
		return present(r.Referer)
	case "svcid":
		return present(r.SvcID)
	case "origin_time", "svc_time", "total_time", "url":
		return present(r.URL)
	case "user_agent":
		return present(r.UserAgent)
	}
	panic("reference: unknown label " + label)
}

// present returns a list of the text, or an empty list if it is nil.
func present(text *string) []string {
	if text == nil {
		return nil
	}
	return []string{*text}
}

func sumTopX(label, key string, in []*lake.Row) query.TopXRow {
	return query.TopXRow{
		Label:             label,
		Key:               key,
		Requests:          int64(len(in)),
		Blocked:           count(in, isBlocked),
		Bots:              count(in, isBot),
		Challenges:        count(in, isChallenged),
		Human:             count(in, isHuman),
		Monitored:         count(in, isMonitored),
		BytesSent:         sum(in, bytesSent),
		RequestLength:     sum(in, requestLength),
		Origin:            sumTimes(in, originTime),
		Svc:               sumTimes(in, svcTime),
		Total:             sumTimes(in, totalTime),
		FirstASN:          smallest(in, func(r *lake.Row) *string { return r.ASN }),
		FirstCountry:      smallest(in, func(r *lake.Row) *string { return r.Country }),
		FirstOrganization: smallest(in, func(r *lake.Row) *string { return r.Organization }),
	}
}

func sumTimes(rows []*lake.Row, duration func(*lake.Row) *int64) query.Times {
	t := query.Times{Sum: sum(rows, duration)}
	for _, r := range rows {
		d := duration(r)
		if d == nil {
			continue
		}
		if t.Count == 0 {
			t.Min, t.Max = *d, *d
		}
		t.Count++
		t.Min, t.Max = min(t.Min, *d), max(t.Max, *d)
	}
	return t
}

// smallest returns the smallest text in byte order, or "" when no record has one.
func smallest(rows []*lake.Row, text func(*lake.Row) *string) string {
	var texts []string
	for _, r := range rows {
		texts = append(texts, present(text(r))...)
	}
	if len(texts) == 0 {
		return ""
	}
	return slices.Min(texts)
}

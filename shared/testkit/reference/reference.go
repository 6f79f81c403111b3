// Package reference answers queries over records in memory, exactly as the contract defines the answers. It is written
// to be obviously right, not fast. Tests compare every engine with it, and no engine shares code with it.
package reference

import (
	"fmt"
	"math"
	"math/big"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Evaluate returns the answer to q over the rows.
func Evaluate(q *query.Query, rows []*lake.Row) query.Answer {
	var matching []*lake.Row
	for _, r := range rows {
		if query.Match(q, r) {
			matching = append(matching, r)
		}
	}
	segments := q.Segmentation(q.Scope.Period)
	switch shape := q.Shape.(type) {
	case query.Logs:
		return query.Answer{Logs: evaluateLogs(shape, matching)}
	case query.Stats:
		return query.Answer{Stats: evaluateStats(shape, segments, matching)}
	case query.Timeline:
		return query.Answer{Timeline: evaluateTimeline(segments, matching)}
	case query.TopX:
		return query.Answer{TopX: evaluateTopX(shape, matching)}
	case query.Facets:
		return query.Answer{Facets: evaluateFacets(shape, matching)}
	case query.Histogram:
		return query.Answer{Histogram: evaluateHistogram(shape, segments, matching)}
	case query.Diff:
		return query.Answer{Diff: evaluateDiff(shape, matching)}
	case query.Counts:
		return query.Answer{Counts: evaluateCounts(shape, segments, matching)}
	case query.Sequences:
		return query.Answer{Sequences: evaluateSequences(shape, matching)}
	case query.Values:
		return query.Answer{Values: evaluateValues(shape, matching)}
	}
	panic(fmt.Sprintf("reference: unknown shape %T", q.Shape))
}

// group groups rows by key. It also returns the keys in the order of their first rows.
func group[K comparable](rows []*lake.Row, key func(*lake.Row) K) (map[K][]*lake.Row, []K) {
	groups := map[K][]*lake.Row{}
	var keys []K
	for _, r := range rows {
		k := key(r)
		if _, known := groups[k]; !known {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], r)
	}
	return groups, keys
}

// count returns the number of rows that have a property.
func count(rows []*lake.Row, has func(*lake.Row) bool) int64 {
	n := int64(0)
	for _, r := range rows {
		if has(r) {
			n++
		}
	}
	return n
}

// sum returns the sum of figures over the rows that have them, or the nearest integer of 64 bits.
func sum(rows []*lake.Row, figures ...func(*lake.Row) *int64) int64 {
	return nearest(exactSum(rows, figures...))
}

func exactSum(rows []*lake.Row, figures ...func(*lake.Row) *int64) *big.Int {
	total := new(big.Int)
	for _, r := range rows {
		for _, figure := range figures {
			if n := figure(r); n != nil {
				total.Add(total, big.NewInt(*n))
			}
		}
	}
	return total
}

// nearest returns the nearest integer of 64 bits.
func nearest(n *big.Int) int64 {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

func isTrue(flag *bool) bool { return flag != nil && *flag }

func isBlocked(r *lake.Row) bool    { return isTrue(r.Blocked) }
func isBot(r *lake.Row) bool        { return isTrue(r.Bot) }
func isHuman(r *lake.Row) bool      { return isTrue(r.Human) }
func isChallenged(r *lake.Row) bool { return isTrue(r.Challenge) || isTrue(r.IChallenge) }
func isMonitored(r *lake.Row) bool  { return isTrue(r.Monitor) || len(r.MonitorReasons) > 0 }

// isOriginBlocked reports whether the last origin tried refused the request.
func isOriginBlocked(r *lake.Row) bool {
	n := len(r.UpstreamStatus)
	return n > 0 && r.UpstreamStatus[n-1] >= 400
}

func bytesSent(r *lake.Row) *int64     { return r.BytesSent }
func requestLength(r *lake.Row) *int64 { return r.RequestLength }
func originTime(r *lake.Row) *int64    { return r.OriginUs }
func svcTime(r *lake.Row) *int64       { return r.SvcUs }
func totalTime(r *lake.Row) *int64     { return r.TotalUs }

package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// ten is a typical filter of ten conditions. Parsing and binding it takes less than 50 µs.
const ten = `timestamp between 2026-01-01 00:00:00 and 2026-01-02 00:00:00, ` +
	`status>=400, host="shop.example", ip!="203.0.113.7", path~"^/api/v[0-9]+/", tags="bot", ` +
	`headers["user-agent"]~"(?i)curl", method in (POST, PUT), blocked is true, request_time>2.5`

func BenchmarkParseAndBindTenConditions(b *testing.B) {
	for b.Loop() {
		if _, err := query.Bind(filter.Parse(ten), query.TopX{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFindings looks at 60,000 values. A quarter are findings, and many are equal.
func BenchmarkFindings(b *testing.B) {
	term := query.DiffTerm{Distinct: 60_000}
	for i := range 60_000 {
		term.Values = append(term.Values, query.DiffValue{
			Value: fmt.Sprintf("%05d", i),
			Sides: query.Sides{Selected: int64(i%4/3) * int64(20+i%7), Baseline: int64(30 + i%5)},
		})
	}
	answer := query.DiffAnswer{Requests: query.Sides{Selected: 150_000, Baseline: 2_000_000}, Terms: []query.DiffTerm{term}}
	shape := query.Diff{By: querytest.Dimensions("ip"), Limit: 20, Least: 5}
	for b.Loop() {
		if len(query.Findings(shape, answer)) != 20 {
			b.Fatal("too few findings")
		}
	}
}

func BenchmarkParseAndBindFiveThousandConditions(b *testing.B) {
	conditions := []string{"timestamp between 2026-01-01 and 2026-01-02"}
	for i := range 5000 {
		conditions = append(conditions, fmt.Sprintf(`headers["x-%d"]!="v", `, i)+fmt.Sprintf(`path!~"^/p%d/"`, i))
	}
	text := strings.Join(conditions[:2501], ", ")
	for b.Loop() {
		q, err := query.Bind(filter.Parse(text), query.TopX{})
		if err != nil {
			b.Fatal(err)
		}
		if len(query.Groups(q.Conditions)) != 2 {
			b.Fatal("the conditions are not grouped")
		}
	}
}

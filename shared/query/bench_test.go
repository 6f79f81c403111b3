package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
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

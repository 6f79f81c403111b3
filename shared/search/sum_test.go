package search_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/search"
)

func TestSum(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	objects := func(n int) *int { return &n }
	one := func(bytes int64, ms float64, of int) *search.Estimate {
		return &search.Estimate{
			Objects: objects(of), Rows: number(bytes), Bytes: &search.BytesEstimate{Low: bytes, High: 2 * bytes},
			CostUSD: &search.PriceEstimate{Low: 0.25, High: 0.5}, WaitMS: &search.MillisEstimate{Low: ms, High: 2 * ms},
			Columns: []search.ColumnSize{{Name: "ip", Bytes: number(bytes)}}, Warnings: []string{"w"},
		}
	}
	unknown := &search.Estimate{Columns: []search.ColumnSize{{Name: "ip"}, {Name: "path"}}, Warnings: []string{"v", "w"}}
	hidden := func(bytes int64) *search.Estimate { // for a key that is limited to branches
		steps := (bytes + 9_999_999) / 10_000_000 * 10_000_000
		return &search.Estimate{
			Bytes: &search.BytesEstimate{Low: steps, High: steps}, Unrounded: &search.BytesEstimate{Low: bytes, High: bytes},
		}
	}
	free := one(100, 8, 3)
	free.CostUSD = nil
	for _, test := range []struct {
		rule string
		of   []*search.Estimate
		want *search.Estimate
	}{
		{"amounts are added, and the queries run two at once", []*search.Estimate{one(100, 8, 3), one(50, 4, 5), one(10, 4, 1)},
			&search.Estimate{
				Objects: objects(5), Rows: number(100), Bytes: &search.BytesEstimate{Low: 160, High: 320},
				CostUSD: &search.PriceEstimate{Low: 0.75, High: 1.5}, WaitMS: &search.MillisEstimate{Low: 8, High: 24},
				Columns: []search.ColumnSize{{Name: "ip", Bytes: number(160)}}, Warnings: []string{"w"},
			}},
		{"what is not known of one is not known of all", []*search.Estimate{one(100, 8, 3), unknown}, &search.Estimate{
			Columns: []search.ColumnSize{{Name: "ip"}, {Name: "path"}}, Warnings: []string{"w", "v"},
		}},
		{"bytes that are rounded up are rounded once", []*search.Estimate{hidden(1), hidden(12_000_000)}, &search.Estimate{
			Bytes:   &search.BytesEstimate{Low: 20_000_000, High: 20_000_000},
			Columns: []search.ColumnSize{}, Warnings: []string{},
			Unrounded: &search.BytesEstimate{Low: 12_000_001, High: 12_000_001},
		}},
		{"an engine that charges nothing has no price", []*search.Estimate{free}, &search.Estimate{
			Objects: objects(3), Rows: number(100), Bytes: &search.BytesEstimate{Low: 100, High: 200},
			WaitMS:  &search.MillisEstimate{Low: 8, High: 16},
			Columns: []search.ColumnSize{{Name: "ip", Bytes: number(100)}}, Warnings: []string{"w"},
		}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if diff := cmp.Diff(test.want, search.Sum(test.of, 2)); diff != "" {
				t.Errorf("the sum (-want +got):\n%s", diff)
			}
		})
	}
}

package athena

import (
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/query"
)

// sortByLabel sorts the rows of the parts of a topx query by label. The rows of one label come from one part and are
// already in order.
func sortByLabel(rows []query.TopXRow) {
	slices.SortStableFunc(rows, func(a, b query.TopXRow) int { return strings.Compare(a.Label, b.Label) })
}

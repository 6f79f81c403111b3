package athena

import (
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/query"
)

// byLabel puts the parts of a topx into the order of the whole: by label. Within one, a part has the order already.
func byLabel(parts []query.TopXRow) {
	slices.SortStableFunc(parts, func(a, b query.TopXRow) int { return strings.Compare(a.Label, b.Label) })
}

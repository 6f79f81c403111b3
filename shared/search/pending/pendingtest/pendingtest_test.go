package pendingtest_test

import (
	"testing"

	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

func TestMemory(t *testing.T) {
	pendingtest.Run(t, func(*testing.T) pending.Store { return pendingtest.NewMemory() })
}

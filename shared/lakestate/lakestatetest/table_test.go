package lakestatetest_test

import (
	"testing"

	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/lakestatetest"
)

func TestTable(t *testing.T) {
	lakestatetest.Test(t, func(*testing.T) lakestate.Table { return &lakestatetest.Table{} })
}

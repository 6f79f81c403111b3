package tabletest_test

import (
	"net/http"
	"testing"

	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabletest"
)

func TestMemory(t *testing.T) {
	tabletest.Run(t, func(*testing.T) table.Table { return &tabletest.Memory{} })
}

func TestRemote(t *testing.T) {
	tabletest.Faults(t, func(*testing.T) (table.Table, func(http.RoundTripper) table.Table) {
		m := &tabletest.Memory{}
		return m, func(network http.RoundTripper) table.Table { return tabletest.Remote{Table: m, Network: network} }
	})
}

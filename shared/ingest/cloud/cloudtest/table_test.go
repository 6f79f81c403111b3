package cloudtest_test

import (
	"testing"

	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/cloudtest"
)

func TestTable(t *testing.T) {
	cloudtest.Test(t, func(*testing.T) cloud.Table { return &cloudtest.Table{} })
}

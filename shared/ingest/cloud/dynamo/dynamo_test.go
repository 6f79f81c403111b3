package dynamo_test

import (
	"testing"

	"github.com/orrery/orrery/shared/dynamo/dynamotest"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/cloudtest"
	"github.com/orrery/orrery/shared/ingest/cloud/dynamo"
)

func TestTable(t *testing.T) {
	cloudtest.Test(t, func(t *testing.T) cloud.Table {
		client, name := dynamotest.Client(t)
		return dynamo.New(client, name)
	})
}

package dynamo_test

import (
	"testing"

	"github.com/orrery/orrery/shared/dynamo/dynamotest"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/dynamo"
	"github.com/orrery/orrery/shared/lakestate/lakestatetest"
)

func TestTable(t *testing.T) {
	lakestatetest.Test(t, func(t *testing.T) lakestate.Table {
		client, name := dynamotest.Client(t)
		return dynamo.New(client, name)
	})
}

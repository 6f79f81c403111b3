package statedynamo_test

import (
	"testing"

	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/lakestatetest"
	"github.com/orrery/orrery/shared/lakestate/statedynamo"
)

func TestTable(t *testing.T) {
	lakestatetest.Test(t, func(t *testing.T) lakestate.Table {
		client, name := dynamotest.Client(t)
		return statedynamo.New(client, name)
	})
}

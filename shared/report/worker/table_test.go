package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// tableRuns returns the store of runs of a deployment, over a table and a bucket in memory. Each write of both is a
// step of the crash that fault returns, if it returns one.
func tableRuns(fault func() *crash) runs.Store {
	return runs.Over(&items{fault: fault}, &bucket{fault: fault})
}

// bucket is a bucket; each write to it is a step.
type bucket struct {
	blobtest.Memory
	fault func() *crash
}

func (b *bucket) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	return b.fault().step("put", func() error { return b.Memory.Put(ctx, name, body, when) })
}

func (b *bucket) Delete(ctx context.Context, names ...string) error {
	return b.fault().step("delete", func() error { return b.Memory.Delete(ctx, names...) })
}

// step runs a step.
func (c *crash) step(name string, run func() error) error {
	err := c.before(name)
	if err == nil {
		err = run()
	}
	if err == nil {
		err = c.after()
	}
	return err
}

// items is a table of runs. Each write is a step.
type items struct {
	tabletest.Memory
	fault func() *crash
}

func (i *items) Write(ctx context.Context, changes ...table.Change) error {
	refused := false
	err := i.fault().step("write", func() error {
		err := i.Memory.Write(ctx, changes...)
		if refused = errors.Is(err, table.ErrConflict); refused {
			return nil
		}
		for _, c := range changes {
			text, ok := c.Attributes["run"].(string)
			if !ok {
				continue
			}
			var run runs.Run
			if err := json.Unmarshal([]byte(text), &run); err != nil {
				return err
			}
			i.fault().recorded(run)
		}
		return err
	})
	if err == nil && refused {
		return table.ErrConflict
	}
	return err
}

package asking_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// oracle is an engine that answers with the reference evaluation over rows in memory.
type oracle struct{ rows []*lake.Row }

func (oracle) Name() string { return "oracle" }

func (o oracle) Extent(context.Context) (lake.Extent, error) {
	e := lake.Extent{Rows: int64(len(o.rows))}
	for i, r := range o.rows {
		if i == 0 {
			e.MinTsMs, e.MaxTsMs = r.TsMs, r.TsMs
		}
		e.MinTsMs, e.MaxTsMs = min(e.MinTsMs, r.TsMs), max(e.MaxTsMs, r.TsMs)
	}
	return e, nil
}

func (o oracle) Run(_ context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	return reference.Evaluate(&q, o.rows), engine.Cost{BytesScanned: 10}, nil
}

func (oracle) Explain(context.Context, query.Query) (engine.Plan, error) { return engine.Plan{}, nil }

type source answering.Ask

func (s source) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	return s(ctx, route, params)
}

func rowsOf(t testing.TB, text []byte) []*lake.Row {
	t.Helper()
	decoder := record.NewDecoder()
	var rows []*lake.Row
	for line := range bytes.Lines(text) {
		row := &lake.Row{}
		if _, err := decoder.Decode(line, row); err != nil {
			t.Fatal(err)
		}
		row.Source, row.Line = "s", int64(len(rows)+1)
		rows = append(rows, row)
	}
	return rows
}

func generated(t testing.TB, o gen.Options) []byte {
	t.Helper()
	text, err := io.ReadAll(gen.New(o))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sourceOf(t testing.TB, rows []*lake.Row) source {
	t.Helper()
	service, err := search.New(oracle{rows}, search.Options{Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return source(answering.AskAs(service, nil, ""))
}

func TestTry(t *testing.T) {
	rows := rowsOf(t, generated(t, gen.Options{Records: 20_000, Seed: 1}))
	began := time.Now()
	got, err := asking.Run(t.Context(), sourceOf(t, rows), asking.Request{
		Filters: "timestamp between 2026-01-01 and 2026-01-01 23:59:59.999", AtOnce: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(began))
	for _, r := range got.Results {
		t.Logf("%s\n  %s\n  %s\n  %s\n %.200s", r.Sentence, r.Details, r.Held.Sentence, r.Why, r.Filter)
	}
	t.Logf("%+v", got.Meta)
}

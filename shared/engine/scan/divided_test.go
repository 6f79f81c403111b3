package scan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// variedRecords returns records with many values of each field, few of which occur often.
func variedRecords(n int) []lake.Row {
	random := rand.New(rand.NewPCG(7, 11))
	rows := make([]lake.Row, n)
	for i := range rows {
		url, host, session := fmt.Sprint("/", random.IntN(n/2)), fmt.Sprint("host ", random.IntN(n/80)), fmt.Sprint(i/2)
		status, sent, blocked := int64(200+random.IntN(300)), random.Int64N(90_000), random.IntN(3) == 0
		origin, total := random.Int64N(900_000), random.Int64N(2_000_000)
		tags := []string{url, fmt.Sprint("tag ", random.IntN(n))}
		rows[i] = lake.Row{
			TsMs: enginetest.Start.UnixMilli() + random.Int64N(10_800_000), Source: fmt.Sprint(i % 4), Line: int64(i),
			URL: &url, Host: &host, Session: &session, Status: &status, BytesSent: &sent, Blocked: &blocked,
			OriginUs: &origin, TotalUs: &total, Tags: tags,
		}
		switch {
		case i%5 == 0:
			rows[i].URL, rows[i].Host = nil, nil
		case i%7 == 0:
			empty := ""
			rows[i].URL, rows[i].Host = &empty, &empty
		case i%11 == 0:
			often := "often"
			rows[i].URL = &often
		}
	}
	return rows
}

// dividedShapes are queries, and less memory than the figures of all values need.
var dividedShapes = []struct {
	query.Shape
	memory int64
	byHash bool // they are divided by hashes, not by time
}{
	{query.Histogram{SegmentSeconds: 3600, Measure: query.MeasureRequests, Limit: 5, By: dimension("url")}, 100_000, true},
	{query.Histogram{SegmentSeconds: 60, Measure: query.MeasureBytesSent, Limit: 20, By: dimension("session")}, 150_000, true},
	{query.Histogram{SegmentSeconds: 900, Measure: query.MeasureBlocked, Limit: 3, By: dimension("tags")}, 100_000, true},
	{query.Stats{SegmentSeconds: 300}, 100_000, false},
	{query.Stats{SegmentSeconds: 60, Percentiles: true}, 150_000, false},
	{query.Stats{SegmentSeconds: 86_400, Percentiles: true}, 90_000, true},
	{query.Stats{SegmentSeconds: 3600, GroupByHostname: true, Percentiles: true}, 150_000, false},
	{query.Stats{SegmentSeconds: 86_400, By: dimension("status"), Percentiles: true}, 150_000, true},
	{query.Stats{SegmentSeconds: 900, By: dimension("tags"), Percentiles: true}, 6_500_000, false},
}

func dimension(name string) *query.Dimension { return &querytest.Dimensions(name)[0] }

// TestFiguresInParts: histograms and stats whose values do not fit into the memory are counted one part after the other,
// and give back all memory.
func TestFiguresInParts(t *testing.T) {
	rows := variedRecords(8_000)
	objects := stored(t, rows)
	all := make([]*lake.Row, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	shapes := dividedShapes
	if testing.Short() {
		shapes = shapes[4:6]
	}
	for _, of := range shapes {
		for _, condition := range []string{"", `, status<450, url!="often"`} {
			q := bind(t, hours+condition, of.Shape)
			want := reference.Evaluate(&q, all)
			for _, memory := range []int64{of.memory, enough} {
				shared := engine.NewMemory(enough, enough)
				o := scan.Options{Memory: memory, Workers: 2, Shared: shared}
				kept := scan.NewPartials(1 << 20) // of some row groups
				for _, o.Partials = range []*scan.Partials{nil, kept, kept} {
					got, _, err := scan.Answer(t.Context(), q, objects, o)
					if err != nil {
						t.Fatalf("%s in %d bytes: %v", q, memory, err)
					}
					if diff := enginetest.Diff(want, got); diff != "" {
						t.Errorf("%s in %d bytes (-reference +scan):\n%s", q, memory, diff)
					}
				}
				if !shared.Take("", enough) {
					t.Errorf("%s in %d bytes has not given back all memory", q, memory)
				}
			}
		}
	}
}

const enough = 1 << 30

// TestCancelFiguresInParts: a histogram or stats that is counted in parts ends with its context.
func TestCancelFiguresInParts(t *testing.T) {
	rows := variedRecords(8_000)
	objects := stored(t, rows)
	for _, of := range dividedShapes {
		if !of.byHash {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		shared := engine.NewMemory(enough, enough)
		o := scan.Options{Memory: of.memory, Workers: 2, Shared: shared}.WithHash(func(text []byte) uint64 {
			cancel() // in a part
			return maphash.Bytes(seed, text)
		})
		if _, _, err := scan.Answer(ctx, bind(t, hours, of.Shape), objects, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: error %v, want context.Canceled", of.Shape, err)
		}
		if !shared.Take("", enough) {
			t.Errorf("%T has not given back all memory", of.Shape)
		}
	}
}

var seed = maphash.MakeSeed()

// TestTooManyFiguresInParts: the limits of values and of rows hold for all parts together.
func TestTooManyFiguresInParts(t *testing.T) {
	rows := variedRecords(8_000)
	objects := stored(t, rows)
	undo := scan.SetMaxDistinct(3_000)
	defer undo()
	q := bind(t, hours, dividedShapes[1].Shape)
	for _, memory := range []int64{150_000, enough} {
		_, _, err := scan.Answer(t.Context(), q, objects, scan.Options{Memory: memory, Workers: 2})
		var known *fault.Error
		if !errors.As(err, &known) || known.Kind != fault.EngineLimit {
			t.Errorf("in %d bytes: error %v", memory, err)
		}
	}
}

// remote are objects that are read over a network.
type remote struct{}

func (remote) Open(path string) (scan.Input, error) {
	content, err := os.ReadFile(path)
	return remoteObject{bytes.NewReader(content)}, err
}

func (remote) Release(string) {}

type remoteObject struct{ *bytes.Reader }

func (remoteObject) ETag() string { return "" }

func (remoteObject) Expect([]parquet.Part) error { return nil }

// TestRemoteObjectsAreReadOnce: objects of a source are not read again for parts of the values.
func TestRemoteObjectsAreReadOnce(t *testing.T) {
	rows := variedRecords(8_000)
	objects := stored(t, rows)
	for _, of := range dividedShapes {
		q := bind(t, hours, of.Shape)
		for memory, want := range map[int64]error{of.memory: scan.ErrUnsupported, enough: nil} {
			o := scan.Options{Memory: memory, Workers: 2, Source: remote{}}
			if err := answer(t, q, rows, objects, o); !errors.Is(err, want) {
				t.Errorf("%T in %d bytes: error %v, want %v", of.Shape, memory, err, want)
			}
		}
	}
}

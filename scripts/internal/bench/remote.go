package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate/hybrid"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/pause"
	"github.com/orrery/orrery/shared/query"
)

// Network is an object store as far as time is concerned.
type Network struct {
	FirstByte      time.Duration // until the first byte of a response
	BytesPerSecond float64       // of each response
}

// UnmarshalText reads such as 25ms,90MB/s.
func (n *Network) UnmarshalText(text []byte) error {
	first, rate, _ := strings.Cut(string(text), ",")
	var err, err2 error
	n.FirstByte, err = time.ParseDuration(first)
	n.BytesPerSecond, err2 = strconv.ParseFloat(strings.TrimSuffix(rate, "MB/s"), 64)
	n.BytesPerSecond *= 1e6
	if err != nil || err2 != nil || n.FirstByte < 0 || n.BytesPerSecond <= 0 {
		return fmt.Errorf("%q is no network; write the time until the first byte and the rate, such as 25ms,90MB/s", text)
	}
	return nil
}

// remoteGoals are the goals of questions about the day, in milliseconds: by an instance that has the footers of the
// objects in memory, and by a new one.
var remoteGoals = []struct {
	name      string
	shape     query.Shape
	warm, new int64
}{
	{"topx", query.TopX{Limit: 20}, 500, 1200},
	{"timeline", query.Timeline{SegmentSeconds: hour}, 300, 1200},
	{"stats", query.Stats{SegmentSeconds: hour}, 250, 1200},
	{"logs, newest 200", query.Logs{Limit: 200}, 200, 1200},
}

// RunRemote asks questions about the day as a function of a deployment does, over an object store with that network, and
// prints a table. Nothing is sent: the store is the folder of the data.
func RunRemote(ctx context.Context, o Options, n Network, out io.Writer) (err error) {
	o = o.withDefaults()
	if _, err := ensureData(ctx, o); err != nil {
		return err
	}
	product, err := o.Open(ctx, dataDir(o))
	if err != nil {
		return fmt.Errorf("open the data: %w", err)
	}
	defer func() { err = errors.Join(err, product.Close()) }()
	stored, err := storedIn(ctx, product.Index, Day)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%d records in %d objects, %v and %.0f MB/s; fastest of %d, with its requests and MB\n\n",
		stored.rows, len(stored.objects), n.FirstByte, n.BytesPerSecond/1e6, o.Runs); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "question\tnew instance\tgoal\twarm\tgoal\tasked again") // Flush returns the error
	for _, g := range remoteGoals {
		took, err := measureRemote(ctx, o, n, stored.objects, g.shape)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t≤ %d ms\t%s\t≤ %d ms\t%s\n", g.name, took.fresh, g.new, took.warm, g.warm, took.again)
	}
	return table.Flush()
}

// remotely is an answer over the network.
type remotely struct {
	took time.Duration
	cost engine.Cost
}

func (r remotely) String() string {
	return fmt.Sprintf("%d ms (%d, %.1f)", r.took.Milliseconds(), int(*r.cost.USD/hybrid.USDPerRequest+0.5), float64(r.cost.BytesScanned)/1e6)
}

// instances are the fastest answers of new instances, of warm ones, which have the footers, and of those that have
// answered the question.
type instances struct{ fresh, warm, again remotely }

func measureRemote(
	ctx context.Context, o Options, n Network, objects []lake.Object, shape query.Shape,
) (fastest instances, err error) {
	q, err := query.Bind(filter.Parse(wholeDay()), shape)
	if err != nil {
		return fastest, err
	}
	for run := range o.Runs {
		// Another ETag means that no footer is known.
		in := &folderBucket{Network: n, objects: objects, etag: fmt.Sprint(shape, run)}
		var failure error
		kept := scan.NewPartials(lambdas.KeptFigures)
		e, err := hybrid.New(hybrid.Config{
			Service: struct{ hybrid.Service }{}, States: in, Listing: in, Bucket: in, Now: time.Now,
			MostBytes: lambdas.DefaultScan << 20, Kept: kept, Failed: func(err error) { failure = err },
		})
		if err != nil {
			return fastest, err
		}
		for _, best := range []*remotely{&fastest.fresh, &fastest.warm, &fastest.again} {
			if best == &fastest.warm {
				kept.Forget()
			}
			began := time.Now()
			_, cost, ok := e.TryDirect(ctx, q)
			if took := time.Since(began); !ok {
				return fastest, fmt.Errorf("the function does not answer: %w", failure)
			} else if best.took == 0 || took < best.took {
				*best = remotely{took, cost}
			}
		}
	}
	return fastest, nil
}

// folderBucket is a bucket whose objects are files. It also lists them, as the only objects of a lake.
type folderBucket struct {
	Network
	objects []lake.Object
	etag    string
}

var (
	_ blob.Ranges    = (*folderBucket)(nil)
	_ engine.States  = (*folderBucket)(nil)
	_ hybrid.Listing = (*folderBucket)(nil)
)

func nameOf(o lake.Object) string {
	return "lake/" + lake.FreshName(o.Partition, filepath.Base(o.Path))
}

// GetRange implements blob.Ranges.
func (b *folderBucket) GetRange(ctx context.Context, name, _ string, offset, length int64) (_ io.ReadCloser, err error) {
	for _, o := range b.objects {
		if nameOf(o) != name {
			continue
		}
		if err := pause.For(ctx, b.FirstByte); err != nil {
			return nil, err
		}
		file, err := os.Open(o.Path)
		if err != nil {
			return nil, err
		}
		return slowFile{ctx, io.NewSectionReader(file, offset, length), file, b.BytesPerSecond}, nil
	}
	return nil, blob.ErrNotFound
}

// slowFile is the body of a response.
type slowFile struct {
	ctx context.Context //nolint:containedctx // of the request
	io.Reader
	io.Closer
	bytesPerSecond float64
}

func (f slowFile) Read(into []byte) (int, error) {
	n, err := f.Reader.Read(into)
	if stopped := pause.For(f.ctx, time.Duration(float64(n)/f.bytesPerSecond*1e9)); stopped != nil {
		return n, stopped
	}
	return n, err
}

// State implements engine.States.
func (b *folderBucket) State(context.Context) (engine.State, error) {
	var extent lake.Extent
	for _, o := range b.objects {
		extent = extent.Union(o.Extent())
	}
	return engine.State{Extent: extent, Watermark: lake.PartitionOf(extent.MaxTsMs) + 1, Version: 1}, nil
}

// Objects implements hybrid.Listing. A listing takes a request.
func (b *folderBucket) Objects(ctx context.Context, _, from, to lake.Partition) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		if err := pause.For(ctx, b.FirstByte); err != nil {
			yield(blob.Info{}, err)
			return
		}
		for _, o := range b.objects {
			if from <= o.Partition && o.Partition <= to && !yield(blob.Info{Name: nameOf(o), Size: o.Bytes, ETag: b.etag}, nil) {
				return
			}
		}
	}
}

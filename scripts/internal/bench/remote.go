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
	"github.com/orrery/orrery/shared/rollup/rollupblob"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
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

// remoteGoal is the goal of a question, in milliseconds: by an instance that has the footers of the objects in memory,
// and by a new one.
type remoteGoal struct {
	name      string
	shape     query.Shape
	warm, new int64
}

// remoteGoals are the goals of questions about the day.
var remoteGoals = []remoteGoal{
	{"topx", query.TopX{Limit: 20}, 500, 1200},
	{"timeline", query.Timeline{SegmentSeconds: hour}, 300, 1200},
	{"stats", query.Stats{SegmentSeconds: hour}, 250, 1200},
	{"logs, newest 200", query.Logs{Limit: 200}, 200, 1200},
}

// rolledUpGoals are the goals of questions about all full days, which are rolled up but for the last one.
var rolledUpGoals = []remoteGoal{
	{"topx", query.TopX{Limit: 20}, 500, 1200},
	{"facets", query.Facets{By: defaultFacets, Limit: 10}, 500, 1200},
	{"timeline", query.Timeline{SegmentSeconds: 6 * hour}, 300, 1200},
	{"stats", query.Stats{SegmentSeconds: 6 * hour}, 250, 1200},
}

var defaultFacets = func() []query.Dimension {
	by, err := query.ParseDimensions(query.DefaultFacets)
	if err != nil {
		panic(err)
	}
	return by
}()

// RunRemote asks questions about the day, and about all full days, as a function of a deployment does, over an object
// store with that network, and prints a table. Nothing is sent: the store is the folder of the data.
func RunRemote(ctx context.Context, o Options, n Network, out io.Writer) error {
	o = o.withDefaults()
	if _, err := ensureData(ctx, o); err != nil {
		return err
	}
	if err := o.runRemote(ctx, n, dataDir(o), out); err != nil || o.Days < 2 {
		return err
	}
	return o.runRemote(ctx, n, fullDir(o), out)
}

// runRemote asks questions about the data of a folder. It rolls up the full days.
func (o Options) runRemote(ctx context.Context, n Network, dir string, out io.Writer) (err error) {
	product, err := o.Open(ctx, dir)
	if err != nil {
		return fmt.Errorf("open the data: %w", err)
	}
	defer func() { err = errors.Join(err, product.Close()) }()
	goals, first, rollups := remoteGoals, Day, ""
	if dir == fullDir(o) {
		if product.RollUp == nil {
			return nil
		}
		if _, err := product.RollUp(ctx); err != nil {
			return fmt.Errorf("roll up the full days: %w", err)
		}
		defer func() { err = errors.Join(err, removeRollups(o, product)) }()
		goals, first, rollups = rolledUpGoals, o.longStart(), filepath.Join(dir, product.RollupsFolder)
		if err := rollupfile.Folder(rollups).Remove(Day.Unix()); err != nil { // a deployment does not roll it up
			return err
		}
	}
	stored, err := storedIn(ctx, product.Index, first)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%d records in %d objects, %v and %.0f MB/s; fastest of %d, with its requests and MB\n\n",
		stored.rows, len(stored.objects), n.FirstByte, n.BytesPerSecond/1e6, o.Runs); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "question\tnew instance\tgoal\twarm\tgoal\tasked again") // Flush returns the error
	for _, g := range goals {
		took, err := o.measureRemote(ctx, folderBucket{Network: n, objects: stored.objects, rollups: rollups}, first, g.shape)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t≤ %d ms\t%s\t≤ %d ms\t%s\n", g.name, took.fresh, g.new, took.warm, g.warm, took.again)
	}
	_, _ = fmt.Fprintln(table)
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

func (o Options) measureRemote(
	ctx context.Context, bucket folderBucket, first time.Time, shape query.Shape,
) (fastest instances, err error) {
	q, err := query.Bind(filter.Parse(period(first, Day.AddDate(0, 0, 1).Sub(first))), shape)
	if err != nil {
		return fastest, err
	}
	for run := range o.Runs {
		in := &bucket
		in.etag = fmt.Sprint(shape, run) // another one, so that no footer is known
		var failure error
		kept := scan.NewPartials(lambdas.KeptFigures)
		e, err := hybrid.New(hybrid.Config{
			Service: struct{ hybrid.Service }{}, States: in, Listing: in, Bucket: in, Now: time.Now,
			MostBytes: lambdas.DefaultScan << 20, Kept: kept, Rollups: in, Failed: func(err error) { failure = err },
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

// folderBucket is a bucket whose objects are files. It also lists them, as the only objects of a lake, and their
// rollups.
type folderBucket struct {
	blob.Store // which is nil: nobody writes
	Network
	objects []lake.Object
	rollups string // the folder with the rollups of days; "": there are none
	etag    string
}

var (
	_ blob.Ranges    = (*folderBucket)(nil)
	_ engine.States  = (*folderBucket)(nil)
	_ hybrid.Listing = (*folderBucket)(nil)
)

// nameOf returns the name of an object in the bucket. Tests have objects in other folders than a lake.
func nameOf(o lake.Object) string {
	if name := lake.NameOf(o.Path); strings.Contains(name, "/") {
		return "lake/" + name
	}
	return "lake/" + lake.FreshName(o.Partition, filepath.Base(o.Path))
}

// fileOf returns the file with an object.
func (b *folderBucket) fileOf(name string) (*os.File, error) {
	if in, isRollup := strings.CutPrefix(name, rollupblob.Root); isRollup && b.rollups != "" {
		if day, _, isDay := strings.Cut(strings.TrimPrefix(in, "days/"), "/"); isDay {
			return os.Open(filepath.Join(b.rollups, day+rollupExtension))
		}
		return os.Open(filepath.Join(b.rollups, in))
	}
	for _, o := range b.objects {
		if nameOf(o) == name {
			return os.Open(o.Path)
		}
	}
	return nil, blob.ErrNotFound
}

// GetRange implements blob.Ranges.
func (b *folderBucket) GetRange(ctx context.Context, name, _ string, offset, length int64) (_ io.ReadCloser, err error) {
	file, err := b.fileOf(name)
	if err != nil {
		return nil, err
	}
	if err := pause.For(ctx, b.FirstByte); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return slowFile{ctx, io.NewSectionReader(file, offset, length), file, b.BytesPerSecond}, nil
}

// Get implements blob.Store.
func (b *folderBucket) Get(ctx context.Context, name, _ string, offset int64) (io.ReadCloser, blob.Info, error) {
	file, err := b.fileOf(name)
	if err != nil {
		return nil, blob.Info{}, err
	}
	info, err := file.Stat()
	if err = errors.Join(err, pause.For(ctx, b.FirstByte)); err != nil {
		return nil, blob.Info{}, errors.Join(err, file.Close())
	}
	rest := io.NewSectionReader(file, offset, info.Size()-offset)
	return slowFile{ctx, rest, file, b.BytesPerSecond}, blob.Info{Name: name, Size: info.Size(), ETag: b.etag}, nil
}

const rollupExtension = ".rollup"

// List implements blob.Store for the rollups of days.
func (b *folderBucket) List(ctx context.Context, prefix, _ string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		files, err := filepath.Glob(filepath.Join(b.rollups, "*"+rollupExtension))
		if err = errors.Join(err, pause.For(ctx, b.FirstByte)); err != nil || b.rollups == "" {
			if err != nil {
				yield(blob.Info{}, err)
			}
			return
		}
		for _, path := range files {
			info, err := os.Stat(path)
			if err != nil {
				yield(blob.Info{}, err)
				return
			}
			name := prefix + strings.TrimSuffix(filepath.Base(path), rollupExtension) + "/1" + rollupExtension
			if !yield(blob.Info{Name: name, Size: info.Size(), ETag: b.etag}, nil) {
				return
			}
		}
	}
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

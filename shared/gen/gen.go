// Package gen generates request records that look like a day of a busy web gateway. Tests and demonstrations use it
// where no real logs are available.
//
// The same options give the same bytes on every 64-bit machine and with every version of Go. The only source of
// randomness is PCG, bounded and sampled by code of this package, and no figure depends on floating-point functions
// that differ in the last bit between processors. Golden digests in the tests verify this. They change if the data
// changes.
//
// The data contains the following, in shares of records that the tests check:
//
//   - clients: about 55,000 addresses per million records, 40 hosts, 20,000 paths, 2,500 browsers and 5,000
//     referers, all drawn by Zipf's law; the rate follows the time of day.
//   - attacks, a sixth of the records, in bursts: credential stuffing on /login, scraping, a scan for SQL injection,
//     cross-site scripting and file inclusion, and a layer-7 flood by a botnet. 14–15 % of all records are blocked.
//   - good and bad bots, challenges (status 247), rate limits (429), block statuses 403 and 470–474, monitored
//     requests, slow and failing origins with retries.
//   - records in the shape that the API returns, with every field of the specification, about 20 tags, 7 headers and
//     2.6 kB. A request that was stopped early lacks the fields of later stages.
//
// Options.Scene replaces the bursts by other attacks, or by none. Method Truth returns the attacks, counted from the
// records, to judge programs that look for attacks.
//
// Options.Nasty makes the same records hostile; file nasty.go describes how. Hosts are names under .example; client
// addresses and networks are invented.
package gen

import (
	"io"
	"time"
)

// Options describes the records to generate.
type Options struct {
	Records int       // number of records
	Seed    uint64    // equal seeds give equal bytes
	From    time.Time // the first instant; zero means 2026-01-01 00:00 UTC
	To      time.Time // all records are before it; less than a millisecond after From means 24 hours after From
	Nasty   bool      // hostile records: valid JSON with a valid timestamp, everything else may be anything

	// Tail is the percentage of ordinary requests, outside of bursts, whose address, path and browser occur only once.
	// Without it, the clients are a closed population: after some million records, no new address appears. In real logs, a
	// third of all addresses and more occur once.
	Tail int

	// Uniform makes all clients, paths, referers and browsers of ordinary requests equally frequent, so that no key comes
	// first. Otherwise, they are drawn by Zipf's law.
	Uniform bool

	Scene     *Scene // the attacks and the other events of the period; nil means the bursts of a demo day
	AccessLog bool   // records of a web server without a gateway: no decisions, no details, no request is stopped
}

// Generator generates the records one after the other, oldest first.
type Generator struct {
	left      int
	tail      int
	accessLog bool
	once      int       // number of requests of the tail so far
	sessions  []session // of the ordinary requests of a scene; empty without one
	random    source
	world     *world
	times     timetable
	tallies   []*tally // of the attacks, by their planned beginning
	over      int      // number of first tallies that are complete
	changes   []change
	mutator   *mutator // nil unless Options.Nasty
	request   request
	stamp     stamp
	line      []byte // the record that Read is returning
	readFrom  int    // offset in line of the bytes that Read has not returned
}

// New returns a generator. It takes a few milliseconds; addresses, paths and browsers are made when first drawn.
func New(o Options) *Generator {
	if o.From.IsZero() {
		o.From = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.To.UnixMilli() <= o.From.UnixMilli() {
		o.To = o.From.Add(24 * time.Hour)
	}
	g := &Generator{
		left:      max(o.Records, 0),
		tail:      o.Tail,
		accessLog: o.AccessLog,
		random:    newSource(o.Seed, streamRequests),
		world:     newWorld(o.Seed, o.Uniform),
	}
	if from, to := o.From.UnixMilli(), o.To.UnixMilli(); o.Scene == nil {
		c := newClock(o.Seed, from, to, g.left)
		g.times, g.tallies = c, c.tallies
	} else {
		p := newProgram(o.Scene, o.Seed, from, to, g.left)
		g.times, g.tallies, g.changes = p, p.tallies(), p.changes
		g.sessions = make([]session, max(muldiv(int64(g.left), p.day(), (to-from)*sessionsPer), 1))
	}
	if o.Nasty {
		g.mutator = newMutator(o.Seed, o.From.UnixMilli())
	}
	return g
}

// Next appends the next record to dst as one line of NDJSON, without a line feed. After the last record it returns dst
// and false.
func (g *Generator) Next(dst []byte) ([]byte, bool) {
	if g.left == 0 {
		return dst, false
	}
	g.left--
	now := g.times.next(&g.random)
	r := &g.request
	r.reset(now)
	g.ask(r)
	g.decide(r)
	g.deliver(r)
	g.count(r)
	start := len(dst)
	if g.accessLog {
		dst = g.appendAccess(dst, r)
	} else {
		dst = g.appendRecord(dst, r)
	}
	if g.mutator != nil {
		dst = g.mutator.mutate(dst, start, now.ms)
	}
	return dst, true
}

// Read returns the remaining records as a stream of NDJSON, so that a Generator can be imported or copied like a file.
// A call of Next between calls of Read skips the rest of the current record.
func (g *Generator) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if g.readFrom == len(g.line) {
			line, ok := g.Next(g.line[:0])
			if !ok {
				break
			}
			g.line, g.readFrom = append(line, '\n'), 0
		}
		c := copy(p[n:], g.line[g.readFrom:])
		g.readFrom += c
		n += c
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

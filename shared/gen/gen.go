// Package gen makes request records that look like a day of a busy web gateway: a library, because tests and
// demonstrations need data that nobody had to log first.
//
// The same options give the same bytes on every 64-bit machine and with every version of Go: the only source of chance
// is PCG, bounded and sampled by code of this package, and no figure depends on floating-point functions whose
// last bit differs between processors. A golden digest in the tests guards this; a change of the data changes it.
//
// What is in the data (shares of records; the tests hold them within bounds):
//
//   - clients: about 55,000 addresses per million records, 40 hosts, 20,000 paths, 2,500 browsers and 5,000
//     referers, all drawn by Zipf's law; the rate follows the time of day.
//   - attacks, a sixth of the records, in bursts: credential stuffing on /login, scraping, a scan for SQL injection,
//     cross-site scripting and file inclusion, and a layer-7 flood by a botnet. 14–15 % of all records are blocked.
//   - bots good and bad, challenges (status 247), rate limits (429), block statuses 403 and 470–474, monitored
//     requests, slow and failing origins with retries.
//   - records in the shape the API returns, every field of the specification, about 20 tags and 7 headers, 2.6 kB.
//     A request that was stopped early lacks what later stages would have filled in.
//
// Options.Nasty turns the same stream hostile; file nasty.go tells how. Hosts are names under .example; client
// addresses and networks are invented.
package gen

import (
	"io"
	"time"
)

// Options says what to generate.
type Options struct {
	Records int       // how many records
	Seed    uint64    // equal seeds give equal bytes
	From    time.Time // the first instant; zero means 2026-01-01 00:00 UTC
	To      time.Time // records lie before it; not a millisecond after From means 24 hours later
	Nasty   bool      // hostile records: valid JSON with a usable timestamp, and anything else
}

// Generator makes the records one after the other, oldest first.
type Generator struct {
	left     int
	random   source
	world    *world
	clock    *clock
	spoiler  *spoiler // nil unless Options.Nasty
	request  request
	stamp    stamp
	line     []byte // of the record that Read is handing out
	readFrom int
}

// New prepares a generator. It costs a few milliseconds: addresses, paths and browsers are made when first drawn.
func New(o Options) *Generator {
	if o.From.IsZero() {
		o.From = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.To.UnixMilli() <= o.From.UnixMilli() {
		o.To = o.From.Add(24 * time.Hour)
	}
	g := &Generator{
		left:   max(o.Records, 0),
		random: newSource(o.Seed, streamRequests),
		world:  newWorld(o.Seed),
		clock:  newClock(o.Seed, o.From.UnixMilli(), o.To.UnixMilli(), max(o.Records, 0)),
	}
	if o.Nasty {
		g.spoiler = newSpoiler(o.Seed, o.From.UnixMilli())
	}
	return g
}

// Next appends the next record to dst as one line of NDJSON, without a line feed. It returns dst and false when
// all records have been made.
func (g *Generator) Next(dst []byte) ([]byte, bool) {
	if g.left == 0 {
		return dst, false
	}
	g.left--
	now := g.clock.next(&g.random)
	r := &g.request
	r.reset(now)
	g.ask(r)
	g.decide(r)
	g.deliver(r)
	start := len(dst)
	dst = g.appendRecord(dst, r)
	if g.spoiler != nil {
		dst = g.spoiler.spoil(dst, start, now.ms)
	}
	return dst, true
}

// Read hands out the remaining records as a stream of NDJSON, so that a Generator can be imported or copied like
// a file. Mixing Read and Next loses what Read had not yet handed out.
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

package enginetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// Start is the beginning of the period of the records of this package.
var Start = time.Date(2026, 1, 1, 21, 0, 0, 0, time.UTC)

// Length is the length of the period.
const Length = 6 * time.Hour

// Records returns n generated records, half of them hostile, as rows of two sources. Every field is set in some records
// and missing in others. A tenth of the records has the same time as the record before.
func Records(t testing.TB, n int, seed uint64) []lake.Row {
	t.Helper()
	rows := make([]lake.Row, 0, n)
	for source, nasty := range []bool{false, true} {
		g := gen.New(gen.Options{
			Records: n/2 + n%2*source, Seed: seed, From: Start, To: Start.Add(Length), Nasty: nasty,
		})
		d := record.NewDecoder()
		for line := int64(1); ; line++ {
			text, ok := g.Next(nil)
			if !ok {
				break
			}
			var row lake.Row
			if _, err := d.Decode(text, &row); err != nil {
				t.Fatalf("generated record %d does not decode: %v\n%s", line, err, text)
			}
			row.Source, row.Line = fmt.Sprintf("source-%d", source), line
			if len(rows) > 0 && line%10 == 0 {
				row.TsMs, row.TsNanos = rows[len(rows)-1].TsMs, rows[len(rows)-1].TsNanos
			}
			limitNumbers(&row)
			rows = append(rows, row)
		}
	}
	return rows
}

// limitNumbers reduces the numbers that answers sum up, so that no sum exceeds 64 bits. Such a sum is an error, which
// has its own test.
func limitNumbers(r *lake.Row) {
	for _, number := range []**int64{&r.BytesSent, &r.RequestLength, &r.TotalUs, &r.SvcUs, &r.OriginUs} {
		if *number != nil && (**number > 1<<50 || **number < -1<<50) {
			small := **number % (1 << 50)
			*number = &small
		}
	}
}

// handMade returns a few records with content that engines get wrong: equal times, bounds of hours and segments, absent
// and empty values, names in different cases, text that looks like SQL, extreme numbers.
func handMade() []lake.Row {
	const ten = tenOClock
	at := func(ms, nanos int64, source string, line int64) lake.Row {
		return lake.Row{TsMs: ms, TsNanos: nanos, Source: source, Line: line, TimePeriod: ms / 1000}
	}
	rows := []lake.Row{
		at(ten-1, 999_999, "a", 1),
		at(ten, 0, "a", 2),
		at(ten, 0, "a", 3),
		at(ten, 0, "b", 1),
		at(ten, 1, "a", 4),
		at(ten+1, 0, "a", 5),
		at(ten+59_999, 0, "a", 6), at(ten+60_000, 0, "a", 7),
		at(ten+3_599_999, 0, "a", 8), at(ten+3_600_000, 0, "a", 9),
		at(0, 0, "a", 10), at(-1, 0, "a", 11), at(-3_600_000, 5, "a", 12),
	}
	p := func(s string) *string { return &s }
	n := func(i int64) *int64 { return &i }
	yes, no := true, false

	r := &rows[1]
	r.Status, r.Blocked, r.URL = n(403), &yes, p(`it's "quoted" \ % _`)
	r.Host, r.IP, r.Session = p("b.example"), p("192.0.2.1"), p("s1")
	r.Reason, r.MonitorReasons = p("Block - acl"), []string{"Block - acl", "Monitor - x", "Monitor - x"}
	r.Tags = []string{"a", "b"}
	r.Headers = []lake.Pair{{Name: "X-Case", Value: "a"}, {Name: "x-case", Value: "b"}}
	r.BytesSent, r.TotalUs, r.OriginUs, r.SvcUs = n(10), n(150_000), n(0), n(-5)
	r.SecurityConfig = &lake.SecurityConfig{ACLActive: &yes}
	r.LogRest = []lake.Pair{{Name: "n", Value: "2"}, {Name: "n", Value: " 2"}, {Name: "N", Value: "9"}}

	r = &rows[2]
	r.Status, r.Blocked, r.URL, r.Hostname, r.IP, r.Session = n(200), &no, p(""), p("a.example"), p(""), p("s1")
	r.Tags, r.UpstreamStatus = []string{"b", "c"}, []int64{502, 200}
	r.Headers = []lake.Pair{{Name: "x-\u212aelvin", Value: "a"}}
	r.Arguments = []lake.Pair{{Name: "n", Value: "2"}, {Name: "n", Value: " 2"}, {Name: "N", Value: "9"}}
	r.BytesSent, r.RequestLength, r.TotalUs, r.OriginUs = n(-10), n(1<<50), n(100_000), n(600_000)
	r.UpstreamData = []lake.Upstream{{}, {Addr: p("10.0.0.1:80"), ResponseUs: n(600_000), Status: n(502)}}
	r.SecurityConfig, r.TriggerCounters = &lake.SecurityConfig{ACLActive: &no}, &lake.TriggerCounters{RL: n(2)}
	r.ASN, r.Country, r.Organization = p("AS2"), p("Ä"), p("Z")
	r.LogRest = []lake.Pair{{Name: "", Value: "upstream timeout"}, {Name: "n", Value: "1e2"}}

	r = &rows[3]
	r.Status, r.Human, r.IChallenge, r.URL, r.Host, r.IP = n(500), &yes, &yes, p(`\\`), p("a.example"), p("192.0.2.1")
	r.UpstreamStatus = []int64{200, 404}
	r.Arguments = []lake.Pair{{Name: "n", Value: "1e2"}, {Name: "", Value: ""}}
	r.OriginUs, r.SvcUs, r.Session = n(600_000), n(1), p("S1")
	r.ASN, r.Country, r.Organization = p("AS10"), p("Z"), p("a")
	r.LogRest = []lake.Pair{{Name: "a.b", Value: "x"}, {Name: "a", Value: `{"b":"x"}`}}

	r = &rows[4]
	r.Status, r.Bot, r.Challenge, r.Monitor, r.Host = n(-1), &yes, &yes, &yes, p("b.example")
	r.Arguments = []lake.Pair{{Name: "n", Value: "0x10"}, {Name: "n", Value: "-1000"}, {Name: "n", Value: "NaN"}}
	r.Referer, r.UserAgent, r.SvcID = p("=1+1"), p("\u202eevil\nline"), p("😀")
	r.LogRest = []lake.Pair{}

	r = &rows[5]
	r.Status, r.Monitor, r.MonitorReasons = n(1<<62), &no, []string{"only monitored"}
	r.Hostname, r.Host = p(""), p("hidden.example")
	r.Details, r.Extra, r.RawLine = p(`{"gf_triggers":[{"name":"x"}]}`), p(`{"unknown":null}`), p("cmF3/w==")
	r.GFTriggers = []lake.Pair{{Name: "name", Value: "x"}}
	r.LogRest = []lake.Pair{{Name: "n", Value: "0x10"}, {Name: "n", Value: ""}}
	return rows
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/orrery/orrery/shared/gen"
)

// Growth compares the time of a question about one day with the time of the same question about all full days.
type Growth struct {
	Name string  `json:"name"`
	Day  float64 `json:"day_ms"`      // the fastest answer
	All  float64 `json:"all_days_ms"` // the fastest answer
}

// growthShare is the goal: all days take at most so many times a day as there are days.
const growthShare = 1.05

// growthQuestions are asked about days. The others of the benchmark do not read all records.
var growthQuestions = []struct {
	name       string
	parameters []string
}{
	{"topx", []string{"limit", "10"}},
	{"facets", nil},
	{"diff", []string{"select", "blocked is true"}},
	{"timeline", []string{"segment", strconv.Itoa(hour)}},
	{"stats", []string{"segment", strconv.Itoa(hour)}},
	{"histogram", []string{"segment", strconv.Itoa(hour), "by", "status"}},
}

// measureGrowth asks each question about the day and about all full days, alternately.
func measureGrowth(ctx context.Context, o Options, c client) (list []Growth, _ error) {
	for _, q := range growthQuestions {
		day, all := newRequest(q.name, wholeDay(), q.parameters...), newRequest(q.name, o.longPeriod(), q.parameters...)
		var ofDay, ofAll []time.Duration
		for range o.Runs {
			for _, side := range []struct {
				request
				took *[]time.Duration
			}{{day, &ofDay}, {all, &ofAll}} {
				a, err := c.ask(ctx, side.request)
				if err != nil {
					return nil, err
				}
				*side.took = append(*side.took, a.took)
			}
		}
		list = append(list, Growth{q.name, timesOf(ofDay).Min, timesOf(ofAll).Min})
	}
	return list, nil
}

func wholeDay() string { return period(Day, 24*time.Hour) }

func (r Report) growthRows() (rows []Row) {
	for _, g := range r.Week.Growth {
		most := growthShare * float64(r.Week.Days)
		rows = append(rows, Row{
			What:  fmt.Sprintf("%s, %d such days: times a day", g.Name, r.Week.Days),
			Ours:  fmt.Sprintf("%.0f ms, %.0f ms a day", g.All, g.Day),
			Ratio: fmt.Sprintf("%.1f×", g.All/g.Day),
			Goal:  fmt.Sprintf("≤ %.1f×", most),
			Met:   r.met(g.All <= most*g.Day),
		})
	}
	return rows
}

// Populations holds figures of questions about traffic with many different values: a day with a tail of addresses,
// paths and browsers that occur once, and an hour in which every ordinary request has its own, six times as many as
// the day.
type Populations struct {
	Tail  []Timed `json:"tail"`
	Crowd []Timed `json:"crowd"`
}

// Timed is the time of a question, and the memory that its answer took.
type Timed struct {
	Name        string  `json:"name"`
	Ms          float64 `json:"ms"` // the fastest answer
	Refused     bool    `json:"refused,omitempty"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
}

const (
	tailPercent  = 5
	crowdTimes   = 6  // as many records in an hour as in six days
	crowdSeconds = 10 // the goal of each question about the crowd
	crowdRuns    = 2  // the first answer may wait for the disk
)

func tailDir(o Options) string { return filepath.Join(o.Dir, "tail") }

func crowdDir(o Options) string { return filepath.Join(o.Dir, "crowd") }

func makeTail(ctx context.Context, o Options, temp string, made *Import) error {
	of := o.records(o.Records, Day)
	of.Tail = tailPercent
	made.Tail = int64(of.Records)
	return makeData(ctx, o, temp, tailDir(o), of)
}

func makeCrowd(ctx context.Context, o Options, temp string, made *Import) error {
	of := gen.Options{Records: crowdTimes * o.Records, Seed: seed, From: Day, To: Day.Add(time.Hour), Tail: 100}
	made.Crowd = int64(of.Records)
	return makeData(ctx, o, temp, crowdDir(o), of)
}

// measurePopulations asks the questions about the day with a tail and about the crowd.
func measurePopulations(ctx context.Context, o Options) (p Populations, err error) {
	var tail []request
	for _, q := range growthQuestions {
		tail = append(tail, newRequest(q.name, wholeDay(), q.parameters...))
	}
	inHour := period(Day, time.Hour)
	crowd := []request{
		newRequest("topx", inHour, "limit", "10"),
		newRequest("facets", inHour, "by", "ip"),
		newRequest("diff", inHour, "by", "ip", "select", "blocked is true"),
		newRequest("histogram", inHour, "by", "ip", "segment", strconv.Itoa(hour)),
	}
	if p.Tail, err = askAll(ctx, o, tailDir(o), o.Runs, tail); err != nil {
		return p, err
	}
	p.Crowd, err = askAll(ctx, o, crowdDir(o), crowdRuns, crowd)
	return p, err
}

// askAll asks questions about the data of a folder.
func askAll(ctx context.Context, o Options, dir string, runs int, questions []request) (list []Timed, err error) {
	of, err := open(ctx, o, dir, Day)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, of.Close()) }()
	c := of.server.client(1)
	for _, q := range questions {
		t := Timed{Name: q.route}
		var took []time.Duration
		memory := watchMemory()
		for range runs {
			began := time.Now()
			_, err := c.ask(ctx, q)
			took = append(took, time.Since(began))
			var refused *statusError
			if t.Refused = errors.As(err, &refused) && refused.overLimit(); err != nil && !t.Refused {
				return nil, err
			}
		}
		t.Ms, t.MemoryBytes = timesOf(took).Min, memory.growth()
		list = append(list, t)
	}
	return list, nil
}

func (r Report) populationRows() (rows []Row) {
	for _, t := range r.Populations.Tail {
		rows = append(rows, Row{
			What: t.Name + ", a day in which addresses, paths and browsers occur once", Ours: fmt.Sprintf("%.1f ms", t.Ms),
		})
	}
	for _, t := range r.Populations.Crowd {
		ours := fmt.Sprintf("%.1f s", t.Ms/1000)
		if t.Refused {
			ours += ", refused"
		}
		if t.MemoryBytes > 0 {
			ours += fmt.Sprintf(", %.0f MB", mb(t.MemoryBytes))
		}
		rows = append(rows, Row{
			What: fmt.Sprintf("%s, an hour of %d records of as many addresses", t.Name, r.Import.Crowd),
			Ours: ours,
			Goal: fmt.Sprintf("≤ %d s", crowdSeconds),
			Met:  r.met(t.Ms <= crowdSeconds*1000),
		})
	}
	return rows
}

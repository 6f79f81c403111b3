package cost

import (
	"math"

	"github.com/orrery/orrery/shared/lakestate/hybrid"
	"github.com/orrery/orrery/shared/lambdas"
)

// countingCPU is the processor time, in seconds, in which an instance counts a record of each route whose questions are
// divided into parts: of all records, and of those that meet conditions of a question. A diff is counted twice.
var countingCPU = map[string]struct{ all, filtered float64 }{
	"topx":      {1.4e-6, 0.6e-6},
	"facets":    {0.42e-6, 0.3e-6},
	"diff":      {0.84e-6, 0.6e-6},
	"timeline":  {0.13e-6, 0.1e-6},
	"histogram": {0.1e-6, 0.1e-6},
	"stats":     {0.04e-6, 0.04e-6},
}

const (
	partGB       = lambdas.PartMemory / 1024.0
	partCores    = lambdas.PartMemory / 1769.0
	partNetwork  = 90e6 // bytes a second
	partStart    = 0.3  // seconds of a part besides
	partKept     = 1.5  // days that a part is kept, on average
	partBytes    = 2.0  // of a part, for each record of topx, facets and diff
	getsPerPart  = 6    // by the function that joins the parts
	partsSeconds = 5.0  // of a query whose parts are counted
	changing     = 1    // hours that get new objects: this one
)

// divided is what it costs in a month to have parts of the questions of a route counted.
type divided struct {
	share   float64 // of the queries
	queries float64
	counted float64 // parts
	joined  float64 // parts
	seconds float64 // of the instances that count
	spared  float64 // queries that find the parts of all hours that do not change
	kept    float64 // bytes
}

// partsOf returns what is divided of the questions of a route: all that are too large for a scan, unless they have too
// many parts. Of the questions without conditions, rollups of objects answer all but some hours. All of these questions
// of a route are alike, so that they have the same parts, and so are those that are repeated. For a share of the
// questions, the parts are counted again.
func (l Load) partsOf(
	route string, queries, again, recordsOfHour, bytesOfRecord float64, areRolledUp bool,
) (d divided) {
	cpu, can := countingCPU[route]
	sides := 1.0
	if route == "diff" {
		sides = 2
	}
	perHour := sides * math.Ceil(recordsOfHour*bytesOfRecord/hybrid.DefaultPart)
	if !can || !l.Parts || l.AthenaAlone || perHour*l.PeriodHours > hybrid.DefaultParts {
		return d
	}
	rest := min(l.PeriodHours, changing+0.5) // hours that are counted each time
	add := func(queries, hours, cpu float64) {
		records := queries * hours * recordsOfHour
		parts := queries * hours * perHour
		d.counted += parts
		d.seconds += max(records*cpu/partCores, sides*records*bytesOfRecord/partNetwork) + partStart*parts
		if bytesOfRecord > countedFiguresBytes {
			d.kept += records * partBytes
		}
	}
	d.share, d.queries = 1, queries
	unfiltered := queries * (1 - l.Filtered)
	add(unfiltered, rest, cpu.all)
	once := 24 * month // hours, for all of these questions together
	if areRolledUp {
		once *= (freshHours - changing) / 24 // those that are not merged yet
	}
	add(min(1, unfiltered), once, cpu.all)
	add(queries*l.Filtered*l.Repeated, rest, cpu.filtered)
	add(queries*l.Filtered*(1-l.Repeated), l.PeriodHours, cpu.filtered)
	add(queries*again, l.PeriodHours, cpu.filtered)
	d.joined = queries * l.PeriodHours * perHour
	d.spared = unfiltered + queries*l.Filtered*l.Repeated
	return d
}

// countedFiguresBytes is how many bytes a question reads of a record from which on its parts list values.
const countedFiguresBytes = 20

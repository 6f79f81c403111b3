package search

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/query"
)

// Parameter is a parameter of data routes. If its default, limits or meaning depend on the route, it has several rows
// in the table.
type Parameter struct {
	Name     string
	Routes   []Route
	Kind     ParameterKind
	Required bool
	Values   []string // all allowed values; nil: any
	Pattern  string   // a regular expression for the value; "": any
	Default  string   // "": described by Doc
	Max      int      // the largest number, or the most names or characters; 0: no limit
	Doc      string   // for the documentation of the API
	Example  string
	Help     string // of the flag of the command; "": there is no such flag
	Sample   string // the value that the help of the flag shows; "": the name of the flag
}

// ParameterKind is the type of a parameter.
type ParameterKind int

const (
	TextKind    ParameterKind = iota
	IntegerKind               // 1 or more
	BytesKind                 // a number of bytes, 1 or more, or no limit
	BooleanKind               // true or false, the default
	FilterKind                // a filter in either form
	NamesKind                 // names with commas between them
	LengthKind                // a length of time such as 5m; without a unit it is in seconds
	PartKind                  // a part of a value of a field
)

// Parameters is the table of the parameters of the data routes. The documentation lists the parameters of a route in
// this order. The parameters that choose the representation are in package api/representation.
var Parameters = []Parameter{
	{
		Name: "filters", Kind: FilterKind, Routes: without(Values), Required: true,
		Doc:     "The filter, in the query-string form or the JSON form. It must contain a period.",
		Example: "timestamp between 2020-01-01 and 2100-01-01, status>=500", // includes all records
	},
	{
		Name: "filters", Kind: FilterKind, Routes: []Route{Values},
		Doc: "The period to search: a filter that is only a period. By default the newest 24 hours of the data. " +
			"Other conditions are an error.",
		Example: "timestamp between 2020-01-01 and 2100-01-01",
	},
	{
		Name: "field", Routes: []Route{Values}, Required: true,
		Doc:     "The field, with a key if it has members, as in `headers[\"accept\"]`.",
		Example: "country",
	},
	{
		Name: "prefix", Kind: PartKind, Routes: []Route{Values}, Max: maxFind,
		Doc:     "Text that the values begin with, of at most 200 characters.",
		Example: "ge",
		Help:    "values: return only values that begin with this text, in any case.",
	},
	{
		Name: "contains", Kind: PartKind, Routes: []Route{Values}, Max: maxFind,
		Doc:     "Text that the values contain; not together with prefix.",
		Example: "land",
		Help:    "values: return only values that contain this text, in any case.",
	},
	{
		Name: "segment", Kind: LengthKind, Routes: segmented, Pattern: "^[1-9][0-9]*[smhd]?$",
		Doc: "Length of a segment: 1m, 5m, 15m, 1h, 6h, 1d, 2d, 4d, 8d … By default a minute for periods " +
			"up to 24 hours, then the shortest that gives at most 1,500 segments.",
		Example: "5m",
		Help:    "Length of a segment for stats, timeline and histogram: 60s, 5m, 1h …",
	},
	zoneParameter(segmented, "A time zone such as Europe/Berlin, whose clock decides when segments begin. A "+
		"segment is then 1h, 6h, 1d, 2d, 4d, 7d (from Monday), 8d … By default it is the shortest that gives at most 1,500 "+
		"segments. `today` and `yesterday` in the filter are its days, too."),
	{
		Name: "group_by", Routes: []Route{Stats},
		Doc:     "hostname (or host, if there is none), or another field, with a key if it has members.",
		Example: groupByHostname,
		Help:    "stats: one result per segment and hostname, or value of another field.",
		Sample:  groupByHostname,
	},
	{
		Name: "select", Kind: FilterKind, Routes: []Route{Diff},
		Doc: "Conditions of the selected requests, as in `filters`, but without a period: the other requests are the " +
			"baseline.",
		Example: "blocked is true",
		Help:    "diff: the requests to compare with all others.",
		Sample:  "CONDITIONS",
	},
	{
		Name: "against", Routes: []Route{Diff}, Pattern: `^(previous|\+?[0-9]+[smhd]|.+\.\..+)$`,
		Doc: "The other period, which is the baseline: previous (the period of the same length right before), a " +
			"length of time such as 1d or 7d (the same period, that much earlier), or two times such as " +
			"2026-01-01..2026-01-02 or now-2d..now-1d.",
		Example: "previous",
		Help:    "diff: the other period: previous, 7d, or two times A..B, such as now-2d..now-1d.",
		Sample:  "previous",
	},
	byParameter(Facets, "Fields to group by, at most 16, separated by commas. A field with members needs a key, as in "+
		"`headers[\"accept\"]`. `ip/24` counts the networks of addresses: /24 and /16 of IPv4, /48 and /64 of IPv6.",
		query.MaxDimensions, query.DefaultFacets, `country,headers["accept"]`),
	byParameter(Histogram, "The field to split by, with a key if it has members, or networks as in facets.", 1, "", "status"),
	byParameter(Diff, "Fields to compare, at most 16, separated by commas. A field with members needs a key, as in "+
		"`headers[\"accept\"]`, and networks are written as in facets.", query.MaxDimensions, query.DefaultDiff,
		`country,headers["accept"]`),
	limitParameter(TopX, "Keys per label.", query.DefaultTopX, 80),
	limitParameter(Logs, "Records.", query.DefaultLogs, MaxLogs),
	limitParameter(Facets, "Values per field.", query.DefaultFacetLimit, 80),
	limitParameter(Histogram, "Values with a series of their own; needs `by`.", query.DefaultSeries, 20),
	limitParameter(Diff, "Findings.", query.DefaultFindings, 80),
	limitParameter(Values, "Values.", query.DefaultValues, 50),
	{
		Name: "figures", Routes: []Route{Stats, TopX}, Values: []string{FiguresPercentiles},
		Doc:     "percentiles adds p50, p90 and p99 of the total, the origin and the service time.",
		Example: FiguresPercentiles,
		Help:    "stats, topx: percentiles adds p50, p90 and p99 of the times.",
		Sample:  FiguresPercentiles,
	},
	{
		Name: "fields", Kind: NamesKind, Routes: []Route{Logs}, Pattern: `\s*[a-z_]+\s*`,
		Doc:     "Names of the fields to return, separated by commas. By default all.",
		Example: "timestamp,host,status",
		Help:    "logs: the fields to return, comma-separated.",
	},
	{
		Name: cursorParam, Routes: []Route{Logs}, Pattern: tokenPattern,
		Doc:    "`meta.next` of the page before. The other parameters, except `limit`, must be the same.",
		Help:   "logs: continue after the page with this meta.next.",
		Sample: "TOKEN",
	},
	{
		Name: sinceParam, Routes: []Route{Logs}, Pattern: tokenPattern,
		Doc:    "`meta.head` of an earlier answer. Only records that are newer than that answer are returned.",
		Help:   "logs: return only records that are newer than an earlier answer, which had this meta.head.",
		Sample: "TOKEN",
	},
	{
		Name: "order", Routes: []Route{Facets}, Values: []string{OrderRequests, OrderBlocked}, Default: OrderRequests,
		Doc:     "Whether the values with the most requests come first, or the values with the most blocked requests.",
		Example: OrderBlocked,
		Help:    "facets: sort by the number of requests or of blocked requests: requests or blocked.",
		Sample:  OrderBlocked,
	},
	{
		Name: "measure", Routes: []Route{Histogram}, Values: textsOf(query.Measures), Default: string(query.Measures[0]),
		Doc:     "The measure to sum up.",
		Example: string(query.MeasureBlocked),
		Help:    "histogram: requests, blocked, challenges, monitored, human or bytes_sent.",
	},
	{
		Name: "least", Kind: IntegerKind, Routes: []Route{Diff}, Default: strconv.Itoa(query.DefaultLeast),
		Doc:     "Values with fewer requests, on the side on which their share is larger, are no findings.",
		Example: "5",
		Help:    "diff: the smallest number of requests of a finding.",
	},
	{
		Name: "counts", Kind: BooleanKind, Routes: []Route{Values},
		Doc:  "true: count the requests of each value.",
		Help: "values: count the requests of each value; the most frequent come first.",
	},
	{
		Name: MarksParam, Kind: BooleanKind, Routes: []Route{Timeline, Histogram},
		Doc: "true: `meta.marks` has the changes of settings in the period: of the gateway, as the revision in the records shows " +
			"them, and of planets, for keys with the scope `conf:read`. The server asks further questions to find " +
			"them, so the request may have to be repeated. The answer is JSON only.",
		Help: "timeline, histogram: also print changes of the settings.",
	},
	zoneParameter(without(segmented...),
		"A time zone such as Europe/Berlin: `today` and `yesterday` in the filter are its days. By default UTC."),
	{
		Name: MaxBytesParam, Kind: BytesKind, Routes: Routes,
		Doc: "The most bytes that the query may read. A query that may exceed this, according to its estimate, does " +
			"not run: the answer is a 422 `too_heavy`, with the estimate and the part of the period that fits. By " +
			"default there is no limit.",
		Example: "100000000",
		Help:    "Do not run the query if it may read more bytes than this.",
	},
	{
		Name: "dry_run", Kind: BooleanKind, Routes: Routes,
		Doc: "true: the query does not run. The answer has no results, and `meta.estimate` has what the query would read " +
			"and cost.",
		Help: "Only print what the query would read and cost.",
	},
}

// segmented are the routes whose answers have segments.
var segmented = []Route{Stats, Timeline, Histogram}

// tokenPattern is the form of meta.next and meta.head.
const tokenPattern = "^[A-Za-z0-9_-]+$"

func without(routes ...Route) []Route {
	return slices.DeleteFunc(slices.Clone(Routes), func(r Route) bool { return slices.Contains(routes, r) })
}

func zoneParameter(routes []Route, doc string) Parameter {
	return Parameter{
		Name: "tz", Routes: routes, Pattern: "^[A-Za-z0-9_+/-]+$", Doc: doc, Example: "Europe/Berlin",
		Help:   "Time zone of the segments, of today and of yesterday.",
		Sample: "Europe/Berlin",
	}
}

func byParameter(route Route, doc string, most int, standard, example string) Parameter {
	return Parameter{
		Name: "by", Kind: NamesKind, Routes: []Route{route}, Max: most, Default: standard, Doc: doc, Example: example,
		Help: `Fields to group by, comma-separated, such as headers["accept"] or ip/24, for networks; histogram: one.`,
	}
}

func limitParameter(route Route, doc string, standard, most int) Parameter {
	return Parameter{
		Name: limitParam, Kind: IntegerKind, Routes: []Route{route}, Max: most, Default: strconv.Itoa(standard), Doc: doc,
		Example: "10",
		Help:    "Number of records (logs), keys (topx), values (facets, values), series, findings (diff).",
	}
}

// MarksParam is the name of the parameter for marks.
const MarksParam = "marks"

// limitParam is the name of a parameter that most routes have, with limits of their own.
const limitParam = "limit"

// ParametersOf returns the parameters of a route.
func ParametersOf(route Route) []Parameter {
	var list []Parameter
	for _, p := range Parameters {
		if slices.Contains(p.Routes, route) {
			list = append(list, p)
		}
	}
	return list
}

// ParameterOf returns a parameter of a route, which must have it.
func ParameterOf(route Route, name string) Parameter {
	list := ParametersOf(route)
	i := slices.IndexFunc(list, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("search: %s has no parameter %q", route, name))
	}
	return list[i]
}

// Set sets a parameter to a value, as text. It returns false if no route has a parameter of this name.
func (r *Request) Set(name, value string) bool {
	member, known := members[name]
	if known {
		reflect.ValueOf(r).Elem().Field(member).SetString(value)
	}
	return known
}

// members has the index of the member of Request for each parameter: GroupBy for group_by.
var members = func() map[string]int {
	of, request := map[string]int{}, reflect.TypeFor[Request]()
	for _, p := range Parameters {
		name := strings.ReplaceAll(p.Name, "_", "")
		f, ok := request.FieldByNameFunc(func(member string) bool { return strings.EqualFold(member, name) })
		if !ok {
			panic("search: Request has no member for the parameter " + p.Name)
		}
		of[p.Name] = f.Index[0]
	}
	return of
}()

// Package cost estimates the monthly cost of a deployment on AWS, from list prices, the columns that each query reads,
// and the bytes per record, which it measures on generated traffic.
package cost

import (
	"maps"
	"math"
	"slices"

	"github.com/orrery/orrery/shared/ingest/cloud/rollingup"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/lakestate/hybrid"
	"github.com/orrery/orrery/shared/lambdas"
)

// Load is the work of a deployment.
type Load struct {
	RequestsPerDay float64 // recorded by the gateway
	QueriesPerDay  float64 // on each data route; as many requests for values, saved filters and the status
	ExportsPerDay  float64 // of all matching records, page by page
	ExportRecords  float64 // of an export
	ReportsPerDay  float64 // scheduled daily reports, by mail to one address
	PeriodHours    float64 // length of the period of a query
	RawDays        float64 // days that raw logs are kept
	LakeDays       float64 // days that queryable data is kept
	LogsPerDay     float64 // raw logs; 0: one for each 100,000 requests
	Repeated       float64 // the share of the queries, from 0 to 1, that repeat a query of the last few minutes
	Filtered       float64 // the share of the queries, from 0 to 1, that have conditions besides the period
	AthenaAlone    bool    // Athena answers all queries
	Parts          bool    // functions count parts of large queries
}

// Item is a line of the bill.
type Item struct {
	Service, What string
	Units         float64 // a month, in the unit of the price
	USD           float64 // a month
}

// Assumptions for what cannot be measured. The text of Assumptions describes them and must match.
const (
	month          = 30.4 // days
	recordsPerLog  = 100_000
	recordsPerCore = 20_000 // a second, to convert and verify; compaction takes as much again
	ingestGB       = float64(lambdas.DefaultCompactMemory) / 1024
	ingestCores    = float64(lambdas.DefaultCompactMemory) / lambdas.CoreMemory
	putsPerLog     = 8   // raw, staged, copied and ledger-checked objects
	itemsPerLog    = 14  // DynamoDB reads and writes of ledger, sizes and arrival; in a transaction they count twice
	sizesDays      = 31  // days whose column sizes a query reads
	sizesReads     = 3   // to read the column sizes of a day, 12 kB
	sizesWrites    = 24  // to write the column sizes of a day after each hour; a transaction counts twice
	objectsPerHour = 1   // once compacted, for each 5 million records
	getsPerObject  = 12  // reads of an object by a query: footer and column ranges
	freshHours     = 3   // hours that are not compacted: this one, and those that ended less than two hours ago
	freshPerLog    = 1   // fresh objects of a log
	perBundle      = 64  // fresh objects of a bundle
	unbundled      = 8   // fresh objects, on average, that are too few for a bundle; 2 of an hour that has ended
	getsPerFresh   = 3   // reads of such an object by a query: its columns are near to each other
	oldDays        = 14  // days that the old version of a fresh object is kept
	stagedCopies   = 2   // of a record, until it is published
	stagedDays     = 1.5 // days that their old versions are kept, on average
	querySeconds   = 3.0
	scanSeconds    = 1.0 // of a query that the function answers itself
	scanBytes      = lambdas.DefaultScan << 20
	queryGB        = 1.0
	smallQuery     = 10_000_000.0 // bytes; the least that Athena bills
	logBytes       = 1500         // of gateway and function, per API request
	pageRecords    = 2500         // of an export
	pageShare      = 0.5          // of its period that a page of an export reads, on average
	percentiles    = 0.1          // of the queries of topx and stats that ask for percentiles
	listed         = 1000         // objects in a listing
	listSeconds    = 0.1          // of a listing
	countedFrom    = 5            // days from which on a period's objects are counted by day; it cuts the first and the last
	countedEnds    = 2            // days of such a period whose objects are listed
	newestHours    = 72           // of the status, whose objects are listed
	countReads     = 0.1          // to read the count of a day
	compactions    = 480.0        // a day: every three minutes
	runSeconds     = 1.5          // of a compaction with nothing to merge
	runMinutes     = 1.0          // of one that bundles
	smallSeconds   = 0.05         // a request without a query
	valuesGB       = 1.0
	smallGB        = 0.25 // for saved filters and the status
	reportGB       = 1.0
	mailMB         = 0.1   // of a mail with its attachments
	ticks          = 288.0 // a day: reports that are due are looked for every five minutes
	tickSeconds    = 0.2
	runWrites      = 10               // of the run of a report
	rollupShare    = 0.04             // of the Parquet that the rollups have as many bytes as
	subsetsShare   = 0.11             // the same of the rollups of branches, of hosts, and for reports
	rollupCPU      = 3e-6             // processor seconds to roll up a record once
	dayRollups     = 2.5              // how often a record of a day is rolled up: a quarter, a half, three quarters and all of the day
	getsPerRollup  = 6                // reads of a rollup by a query
	cutHours       = 24               // hours of the days that a period cuts at its ends, which rollups of days do not answer
	freshAndCut    = freshHours + 0.5 // hours that are not merged, and half of the one that a period cuts at its begin
)

// rolledUp is how many bytes of the rollup of a day each query reads that is answered from it, for each record of the
// day.
var rolledUp = map[string]float64{"topx": 4, "facets": 2.1, "stats": 0.02, "timeline": 0.02}

// Assumptions lists the assumptions of an estimate for its reader.
var Assumptions = []string{
	"Traffic is like the traffic of `orrery generate`: 2.6 kB of JSON per record, " +
		"in raw logs of 100,000 records compressed with gzip.",
	"A month has 30.4 days. The deployment has run for as long as it keeps data. Replaced objects are kept for 14 " +
		"days as old versions, and staged copies, twice the Parquet, for a day and a half.",
	"ingest and compact each process every record once, 20,000 per second and core, on arm64 with 3,008 MB (1.7 cores). " +
		"If an hour has four logs or more, compact processes its records once more, to bundle them.",
	"A query takes 3 s on 1,024 MB. It reads whole columns of every hour of its period, and no result of Athena is reused. " +
		"A logs query also reads one whole row group.",
	"A query whose columns have at most 200 MB, in at most 512 objects, is answered by the function itself: in 1 s, and " +
		"without Athena. If it is repeated, a warm function reads only the hours that are not compacted. Of logs, these are the " +
		"columns of their conditions and their order. Logs of longer periods are often answered by the function, too, from the " +
		"newest hours; that is not included.",
	"A histogram is split by status, and a diff compares blocked requests with the others; against another period it " +
		"reads that, too. One query of topx and stats in ten asks for percentiles, for which topx scans a second time.",
	"Other queries for figures are divided into parts of an hour, or of 128 MB, if they have at " +
		"most 1,000 parts: functions with 1,769 MB count these at the same time, at 90 MB and 0.7 to 25 million records a second. " +
		"The query takes 5 s. Parts are kept for a day: if a query is repeated, or has no conditions, only the current hour is " +
		"counted, and half an hour at the begin of the period. So logs arrive within minutes.",
	"Incidents are not included. The questions about the hours of a day and of the day before read about as much as five " +
		"queries of stats about two days; the others read the hours that stand out.",
	"Effects, marks and rules that are tried are not included. An effect needs eight queries of stats, about two periods of " +
		"an hour or more; marks need two that read times, revisions and branches, and one for each hour with a change; a rule " +
		"needs one about its period and, if it is a limit, the 24 hours before.",
	"A page of an export has 2,500 records. It reads half of the period, on average, and one whole row group.",
	"Values, saved filters and the status are requested as often as each data route. They need no query: a request " +
		"takes 0.05 s on 1,024 MB or 256 MB. Every query lists the objects of its period, and the status lists those of " +
		"four days: 1,000 at a time, in 0.1 s. Of longer periods, objects are counted by day. Compaction counts them. It runs " +
		"480 times a day, and takes 1.5 s if there is nothing to merge. Each run lists the objects of one day, and one run a " +
		"day lists all objects.",
	"A scheduled report is about a day and the day before, with 23 questions; for its incidents, only the hours are " +
		"included. Eight run at the same time for " +
		"3 s each on 1,024 MB. Nothing of them is joined. It goes to one address as a mail of 0.1 MB. What is due is " +
		"looked for every five minutes, in 0.2 s on 256 MB.",
	"Days of up to 2 GB of Parquet, their branches and their hosts are rolled up, and merged objects of 12 MB or more. Queries of topx, " +
		"facets and stats read rollups if they have neither conditions nor percentiles, as far as they are about whole days or " +
		"objects: of periods of more than two days, the records of 24 hours are left, and of shorter ones those of three and a " +
		"half hours. So do queries of timeline about more than two days.",
	"Hours are compacted to one object for each 5 million records. A query reads 12 ranges of each object. Each period ends " +
		"now. In its newest three hours, each log has one object, and within minutes up to 64 of these become a bundle. A query " +
		"reads 3 ranges of such an object.",
	"Gateway and function log 1.5 kB per request. " +
		"Outbound data transfer, free tiers, volume discounts, taxes and support are not included.",
}

// leastBundled is the number of fresh objects of an hour from which on they are bundled.
const leastBundled = 4

// opened returns how many objects of the newest hours a question of now opens, on average, if an hour gets perHour.
func (l Load) opened(perHour, hours float64) float64 {
	all := perHour * hours
	if l.AthenaAlone || perHour < leastBundled {
		return all
	}
	sinceRun := perHour * (24/compactions + runMinutes/60) / 2
	return min(all, sinceRun+unbundled+2*max(0, hours-1)+all/perBundle)
}

// Estimate returns the cost of a month, in the order in which data flows.
func Estimate(l Load, b Bytes, p Prices) []Item {
	records := l.RequestsPerDay * month
	logs := l.LogsPerDay * month
	if l.LogsPerDay == 0 {
		logs = records / recordsPerLog
	}
	hour := l.RequestsPerDay / 24
	queries := l.QueriesPerDay * month
	objects := max(1, hour/5e6) * objectsPerHour
	period := hour * l.PeriodHours // records
	rowGroup := b.Parquet * min(parquet.RowsPerGroup, period)
	pages := l.ExportsPerDay * month * math.Ceil(l.ExportRecords/pageRecords)
	reports := l.ReportsPerDay * month
	questions := reports * float64(len(b.Report))
	asked := queries*float64(len(b.Route)) + pages // of Athena, by the routes
	small := 2 * queries                           // for saved filters and the status
	requests := asked + queries + small            // with requests for values
	freshPerHour := logs / month / 24 * freshPerLog
	freshObjects := l.opened(freshPerHour, min(freshHours, l.PeriodHours))
	ofPeriod := max(0, l.PeriodHours-freshHours)*objects + freshObjects
	counted := func(days float64) float64 { // of the days of a period
		if days < countedFrom {
			return 0
		}
		return days - countedEnds
	}
	ofStatus := math.Min(l.LakeDays*24, newestHours+24)*objects + freshObjects
	lists := asked*listings(ofPeriod-counted(l.PeriodHours/24)*24*objects) + questions*listings(24*objects) +
		queries*listings(ofStatus) + month*(compactions*listings(24*objects)+listings(l.LakeDays*24*objects))
	countsRead := asked*counted(l.PeriodHours/24) + (queries+compactions*month)*counted(l.LakeDays)
	// scanned returns 1 for a query that is answered without Athena, else 0; billed the bytes that Athena bills.
	scanned := func(bytes, objects float64) float64 {
		if !l.AthenaAlone && bytes <= scanBytes && objects <= hybrid.DefaultObjects {
			return 1
		}
		return 0
	}
	billed := func(bytes, objects float64) float64 { return (1 - scanned(bytes, objects)) * max(smallQuery, bytes) }
	isRolledUp := !l.AthenaAlone && l.RequestsPerDay*b.Parquet <= rollingup.DefaultMost
	areLarge := !l.AthenaAlone && hour*b.Parquet/objects >= rollingup.DefaultLarge // objects
	// ofRollups returns the share of the queries of a route that rollups answer, and how many hours of records these
	// read.
	ofRollups := func(route string) (share, hours float64) {
		bytes, can := rolledUp[route]
		switch {
		case can && isRolledUp && l.PeriodHours > 2*cutHours:
			hours = cutHours
		case can && areLarge && route != "timeline" && l.PeriodHours > freshAndCut: // whose segments are shorter than hours
			hours = freshAndCut
		default:
			return 0, 0
		}
		read := b.Route[route]*hour*hours + bytes*(period-hour*hours)
		if scanned(read, max(0, hours-freshHours)*objects+freshObjects) == 0 {
			return 0, 0
		}
		if share = 1 - l.Filtered; b.Percentiles[route] > 0 {
			share *= 1 - percentiles
		}
		return share, hours
	}
	gets := (asked*max(0, l.PeriodHours-freshHours)+questions*24)*objects*getsPerObject + asked*freshObjects*getsPerFresh
	// ofParts returns what is divided of the queries of a route that are left to Athena otherwise.
	ofParts := func(route string) divided {
		share, _ := ofRollups(route)
		if scanned(b.Route[route]*period, ofPeriod) == 1 {
			return divided{}
		}
		_, can := rolledUp[route]
		again := 0.0 // of the queries, which read the records of all hours again for percentiles
		if b.Percentiles[route] > 0 {
			again = percentiles
		}
		return l.partsOf(route, queries*(1-share), again, hour, b.Route[route], can && areLarge && route != "timeline")
	}
	var parts divided
	saved := 0.0 // seconds
	for route, bytes := range b.Route {
		share, hours := ofRollups(route)
		small := scanned(bytes*period, ofPeriod)
		of := ofParts(route)
		parts.counted += of.counted
		parts.seconds += of.seconds
		parts.kept += of.kept
		saved += of.queries * (querySeconds - partsSeconds)
		gets += of.joined * getsPerPart
		gets -= of.spared * max(0, l.PeriodHours-freshHours-0.5) * objects * getsPerObject
		gets -= of.spared * freshObjects * (freshHours - changing) / freshHours * getsPerFresh
		saved += queries * (share + (1-share)*small) * (querySeconds - scanSeconds)
		gets -= queries * (1 - share) * small * l.Repeated * max(0, l.PeriodHours-freshHours) * objects * getsPerObject
		rollups := (l.PeriodHours - hours) * objects
		gets -= queries * share * rollups * getsPerObject
		if hours == cutHours {
			rollups /= 24
		}
		gets += queries * share * rollups * getsPerRollup
	}
	var reported float64 // by a report
	for _, question := range b.Report {
		bytes := question.Columns * l.RequestsPerDay
		if question.Records {
			reported += max(smallQuery, bytes+b.Parquet*min(parquet.RowsPerGroup, l.RequestsPerDay))
			continue
		}
		if l.Parts && !l.AthenaAlone && scanned(bytes, 24*objects) == 0 {
			parts.seconds += reports * bytes / partNetwork
			continue
		}
		reported += billed(bytes, 24*objects)
	}
	ingestSeconds := 2 * records / recordsPerCore / ingestCores
	if freshPerHour >= leastBundled {
		ingestSeconds += records / recordsPerCore / ingestCores
	}

	var items []Item
	add := func(service, what string, units, price float64) {
		items = append(items, Item{service, what, units, units * price})
	}
	add("S3", "raw logs kept, GB", l.RequestsPerDay*l.RawDays*b.Raw/1e9, p.StorageGB)
	add("S3", "Parquet kept, GB", l.RequestsPerDay*l.LakeDays*b.Parquet/1e9, p.StorageGB)
	inRollups, kept := 0.0, 0.0 // records a day, and their shares of the Parquet
	if isRolledUp {
		inRollups, kept = 3*dayRollups*l.RequestsPerDay, rollupShare+subsetsShare // each record is of the day, of a branch and of a host
	}
	if areLarge {
		inRollups, kept = inRollups+l.RequestsPerDay, kept+rollupShare
	}
	add("S3", "rollups kept, GB", l.RequestsPerDay*kept*l.LakeDays*b.Parquet/1e9, p.StorageGB)
	add("S3", "counted parts kept, GB", parts.kept/month*partKept/1e9, p.StorageGB)
	add("S3", "old versions kept, GB", l.RequestsPerDay*(oldDays+stagedCopies*stagedDays)*b.Parquet/1e9, p.StorageGB)
	add("S3", "writes and listings, 1,000", (logs*putsPerLog+parts.counted)/1e3, p.Puts1000)
	add("S3", "reads, 1,000", (logs*putsPerLog+gets)/1e3, p.Gets1000)
	add("S3", "listings for estimates and the status, 1,000", lists/1e3, p.Puts1000)
	add("SQS", "requests, million", logs*3/1e6, p.QueueMillion)
	add("Lambda", "ingest and compact, GB-s", (ingestSeconds+compactions*month*runSeconds)*ingestGB, p.LambdaGBs)
	add("Lambda", "rollups, GB-s", inRollups*month*rollupCPU/ingestCores*ingestGB, p.LambdaGBs)
	add("Lambda", "queries, GB-s", (asked*querySeconds-saved)*queryGB, p.LambdaGBs)
	add("Lambda", "parts of queries, GB-s", parts.seconds*partGB, p.LambdaGBs)
	add("Lambda", "values, saved filters and status, GB-s", queries*smallSeconds*valuesGB+small*smallSeconds*smallGB+
		queries*listings(ofStatus)*listSeconds*smallGB, p.LambdaGBs)
	looks := 0.0
	if reports > 0 {
		looks = ticks * month
	}
	add("Lambda", "scheduled reports, GB-s",
		questions/inquiry.Many*querySeconds*reportGB+looks*tickSeconds*smallGB, p.LambdaGBs)
	add("Lambda", "invocations, million", (requests+logs+reports+looks+parts.counted)/1e6, p.InvokeMillion)
	days := l.PeriodHours/24 + 1
	if l.PeriodHours > sizesDays*24 {
		days = 0
	}
	add("DynamoDB", "writes, million",
		(logs*itemsPerLog*2+24*month*sizesWrites+compactions*month+(asked+questions)*2+reports*runWrites)/1e6, p.WriteMillion)
	add("DynamoDB", "reads, million",
		(logs*itemsPerLog+asked*(4+days*sizesReads)+(requests-asked)*2+countsRead*countReads)/1e6, p.ReadMillion)
	for _, route := range slices.Sorted(maps.Keys(b.Route)) {
		bytes := billed(b.Route[route]*period, ofPeriod)
		if route == "logs" { // the row groups of the newest matches
			bytes = (1 - scanned(b.Route[route]*period, ofPeriod)) * max(smallQuery, b.Route[route]*period+rowGroup)
		}
		share, _ := ofRollups(route)
		add("Athena", "scanned by "+route+", TB", queries*(1-share)*(1-ofParts(route).share)*bytes/1e12, p.AthenaTB)
	}
	page := max(smallQuery, b.Route["logs"]*period*pageShare+rowGroup)
	add("Athena", "scanned by exports of logs, TB", pages*page/1e12, p.AthenaTB)
	var further float64 // of a query of each route with percentiles
	for route, touched := range b.Percentiles {
		without := b.Route[route] * period
		further += (1 - ofParts(route).share) * (billed(without+touched*period, ofPeriod) - billed(without, ofPeriod))
	}
	add("Athena", "scanned for percentiles, TB", queries*percentiles*further/1e12, p.AthenaTB)
	add("Athena", "scanned by scheduled reports, TB", reports*reported/1e12, p.AthenaTB)
	add("SES", "mails of reports and their MB, 1,000", reports/1e3, p.Mail1000+1e3*mailMB*p.MailMB)
	add("API Gateway", "requests, million", requests/1e6, p.GatewayMillion)
	add("CloudWatch", "logs, GB", (requests+logs)*logBytes/1e9, p.LogsGB)
	add("CloudWatch", "alarms", alarms+2*float64(len(lambdas.All)), p.Alarm)
	return items
}

// OfReport returns the cost of one daily report.
func OfReport(requestsPerDay float64, b Bytes, p Prices) (usd float64) {
	with := func(reports float64) float64 {
		load := Load{RequestsPerDay: requestsPerDay, PeriodHours: 24, ReportsPerDay: reports, Parts: true}
		return Total(Estimate(load, b, p))
	}
	return (with(2) - with(1)) / month // the first one also has the search for what is due
}

// alarms is the number of alarms of a deployment besides the two of each function.
const alarms = 19

// listings is the number of listings of so many objects.
func listings(objects float64) float64 { return max(1, math.Ceil(objects/listed)) }

// Total returns the sum of the items.
func Total(items []Item) (usd float64) {
	for _, i := range items {
		usd += i.USD
	}
	return usd
}

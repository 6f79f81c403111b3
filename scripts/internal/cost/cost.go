// Package cost estimates the monthly cost of a deployment on AWS, from list prices, the columns that each query reads,
// and the bytes per record, which it measures on generated traffic.
package cost

import "github.com/orrery/orrery/shared/lake/parquet"

// Load is the work of a deployment.
type Load struct {
	RequestsPerDay float64 // recorded by the gateway
	QueriesPerDay  float64 // on each data route
	PeriodHours    float64 // length of the period of a query
	RawDays        float64 // for which raw logs are kept
	LakeDays       float64 // for which queryable data is kept
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
	ingestGB       = 3008.0 / 1024
	ingestCores    = 3008.0 / 1769
	putsPerLog     = 8  // raw, staged, copied and ledger-checked objects
	itemsPerLog    = 11 // DynamoDB reads and writes of the ledger and the arrival, writes twice for the transaction
	objectsPerHour = 1  // once compacted, for each 5 million records
	getsPerObject  = 12 // reads of an object by a query: footer and column ranges
	querySeconds   = 3.0
	queryGB        = 1.0
	smallQuery     = 10_000_000.0 // bytes; the least that Athena bills
	logBytes       = 1500         // of gateway and function, per API request
)

// Assumptions lists the assumptions of an estimate for its reader.
var Assumptions = []string{
	"Traffic is like that of `orrery generate`: 2.6 kB of JSON per record, " +
		"in raw logs of 100,000 records compressed with gzip.",
	"A month has 30.4 days. The deployment has run for as long as it keeps data.",
	"ingest and compact each process every record once, 20,000 per second and core, " +
		"on arm64 with 3,008 MB (1.7 cores).",
	"A query takes 3 s on 1,024 MB. It reads whole columns of every hour of its period, and no result is reused. " +
		"A logs query also reads one whole row group.",
	"Hours are compacted to one object for each 5 million records. A query reads 12 ranges of each object.",
	"Gateway and function log 1.5 kB per request. " +
		"Outbound data transfer, free tiers, volume discounts, taxes and support are not included.",
}

// Estimate returns the cost of a month, in the order in which data flows.
func Estimate(l Load, b Bytes, p Prices) []Item {
	records := l.RequestsPerDay * month
	logs := records / recordsPerLog
	hour := l.RequestsPerDay / 24
	queries := l.QueriesPerDay * month
	objects := max(1, hour/5e6) * objectsPerHour
	var scanned float64
	for _, touched := range b.Route {
		scanned += queries * max(smallQuery, touched*hour*l.PeriodHours)
	}
	if _, measured := b.Route["logs"]; measured { // a logs query reads the row groups of the newest matches
		scanned += queries * b.Parquet * min(parquet.RowsPerGroup, hour*l.PeriodHours)
	}
	requests := queries * float64(len(b.Route))
	gets := requests * l.PeriodHours * objects * getsPerObject
	ingestSeconds := 2 * records / recordsPerCore / ingestCores

	var items []Item
	add := func(service, what string, units, price float64) {
		items = append(items, Item{service, what, units, units * price})
	}
	add("S3", "raw logs kept, GB", l.RequestsPerDay*l.RawDays*b.Raw/1e9, p.StorageGB)
	add("S3", "Parquet kept, GB", l.RequestsPerDay*l.LakeDays*b.Parquet/1e9, p.StorageGB)
	add("S3", "writes and listings, 1,000", logs*putsPerLog/1e3, p.Puts1000)
	add("S3", "reads, 1,000", (logs*putsPerLog+gets)/1e3, p.Gets1000)
	add("SQS", "requests, million", logs*3/1e6, p.QueueMillion)
	add("Lambda", "ingest and compact, GB-s", ingestSeconds*ingestGB, p.LambdaGBs)
	add("Lambda", "queries, GB-s", requests*querySeconds*queryGB, p.LambdaGBs)
	add("Lambda", "invocations, million", (requests+logs)/1e6, p.InvokeMillion)
	add("DynamoDB", "writes, million", (logs*itemsPerLog*2+requests*2)/1e6, p.WriteMillion)
	add("DynamoDB", "reads, million", (logs*itemsPerLog+requests*4)/1e6, p.ReadMillion)
	add("Athena", "scanned, TB", scanned/1e12, p.AthenaTB)
	add("API Gateway", "requests, million", requests/1e6, p.GatewayMillion)
	add("CloudWatch", "logs, GB", (requests+logs)*logBytes/1e9, p.LogsGB)
	add("CloudWatch", "alarms", alarms, p.Alarm)
	return items
}

// alarms is the approximate number of alarms of a deployment.
const alarms = 51

// Total returns the sum of the items.
func Total(items []Item) (usd float64) {
	for _, i := range items {
		usd += i.USD
	}
	return usd
}

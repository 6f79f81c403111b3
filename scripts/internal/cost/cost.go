// Package cost computes what a deployment on AWS costs a month, from bytes per record that it measures on generated
// traffic, the columns that each query touches, and list prices.
package cost

import "github.com/orrery/orrery/shared/lake/parquet"

// Load is what a deployment has to do.
type Load struct {
	RequestsPerDay float64 // recorded by the gateway
	QueriesPerDay  float64 // of each data route
	PeriodHours    float64 // that a query asks about
	RawDays        float64 // raw logs are kept
	LakeDays       float64 // queryable data is kept
}

// Item is a line of the bill.
type Item struct {
	Service, What string
	Units         float64 // a month, in the unit of the price
	USD           float64 // a month
}

// What cannot be measured here is assumed. Assumptions says it in words; keep the two together.
const (
	month          = 30.4 // days
	recordsPerLog  = 100_000
	recordsPerCore = 20_000 // a second, to convert and verify; compaction takes as much again
	ingestGB       = 3008.0 / 1024
	ingestCores    = 3008.0 / 1769
	putsPerLog     = 8  // raw, staged, copied and ledger-checked objects
	itemsPerLog    = 10 // DynamoDB reads and writes of the ledger, writes twice for the transaction
	objectsPerHour = 1  // once compacted, for each 5 million records
	getsPerObject  = 12 // footer and column ranges that a query reads of an object
	querySeconds   = 3.0
	queryGB        = 1.0
	smallQuery     = 10_000_000.0 // bytes; Athena bills no less
	logBytes       = 1500         // of gateway and function, per API request
)

// Assumptions is the sentences that a reader of an estimate must know.
var Assumptions = []string{
	"Traffic is like that of `orrery generate`: 2.6 kB of JSON a record, compressed with gzip as a raw log of 100,000 records.",
	"A month has 30.4 days; storage is that of a deployment that has run for as long as it keeps data.",
	"ingest and compact take 20,000 records a second and core, each record once, on 3,008 MB (1.7 cores) of arm64.",
	"A query waits 3 s on 1,024 MB; it reads every hour of its period, whole columns of it, and nothing is reused; logs reads one row group whole beside.",
	"Hours are compacted: one object for each 5 million records, of which a query reads 12 ranges.",
	"Gateway and function log 1.5 kB a request. Data transfer out, free tiers, volume discounts, taxes and support are left out.",
}

// Estimate is the bill of a month, in the order in which data flows.
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
	if _, asked := b.Route["logs"]; asked { // once the newest matches are found, the records around them are read whole
		scanned += queries * b.Parquet * min(parquet.RowsPerGroup, hour*l.PeriodHours)
	}
	asked := queries * float64(len(b.Route))
	gets := asked * l.PeriodHours * objects * getsPerObject
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
	add("Lambda", "queries, GB-s", asked*querySeconds*queryGB, p.LambdaGBs)
	add("Lambda", "invocations, million", (asked+logs/10)/1e6, p.InvokeMillion)
	add("DynamoDB", "writes, million", (logs*itemsPerLog*2+asked*2)/1e6, p.WriteMillion)
	add("DynamoDB", "reads, million", (logs*itemsPerLog+asked*4)/1e6, p.ReadMillion)
	add("Athena", "scanned, TB", scanned/1e12, p.AthenaTB)
	add("API Gateway", "requests, million", asked/1e6, p.GatewayMillion)
	add("CloudWatch", "logs, GB", (asked+logs)*logBytes/1e9, p.LogsGB)
	add("CloudWatch", "alarms", alarms, p.Alarm)
	return items
}

// alarms is about how many the deployment sets.
const alarms = 23

// Total is the sum of a bill.
func Total(items []Item) (usd float64) {
	for _, i := range items {
		usd += i.USD
	}
	return usd
}

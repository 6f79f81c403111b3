package lambdas

import "time"

// LongestHorizonDays is the maximum of HorizonDays, a hundred years. A horizon of 0 days is none.
const LongestHorizonDays = 36_500

// Limits that the functions share with their deployment.
const (
	// LongestRun is the longest that AWS lets a function run.
	LongestRun = 15 * time.Minute
	// ShortestIngest is the shortest time in which ingest gets work done: it stops deadline.DefaultReserve before its
	// deadline, so that the work it has done is published.
	ShortestIngest = 2 * time.Minute
	// Deliveries is how often the queue of raw logs delivers a message before it becomes a dead letter. With the delays
	// of package ingest/cloud/queue these are at least two hours, so that logs outlast a failure of a service.
	Deliveries = 24
	// DeliveryMargin is how much longer than the timeout of ingest a received message stays hidden. AWS refuses a queue
	// that hides messages for less than the timeout of its function.
	DeliveryMargin = time.Minute
	// GatewayTimeout is how long API Gateway waits for a function. QueryTimeout must be shorter.
	GatewayTimeout = 29 * time.Second
	// DefaultScan is the default of ScanMegabytes.
	DefaultScan = 200
	// KeptFigures is how many bytes of figures an instance keeps of its scans, so that it answers the same question
	// again without reading.
	KeptFigures = 64 << 20
	// LargestScan is the maximum of ScanMegabytes. A scan needs up to 400 MB besides, and a function has 1,024 MB.
	LargestScan = 300
	// DefaultPartsAtOnce is how many parts of a question a deployment counts at once, unless it sets another number.
	DefaultPartsAtOnce = 100
	// MostPartsAtOnce is the maximum of PartsAtOnce.
	MostPartsAtOnce = 400
	// PartMemory is the memory of the function Part, in MB.
	PartMemory = CoreMemory
	// CoreMemory is the memory for which Lambda gives a function one processor, and MostMemory the most that a function
	// can have, in MB.
	CoreMemory, MostMemory = 1769, 10_240
	// DefaultCompactMemory is the memory of compact in MB, unless a deployment sets another number.
	DefaultCompactMemory = 3008
	// KeepQueries is how long callers can ask about a query. The results of queries must be kept for longer.
	KeepQueries = 24 * time.Hour
	// LongestReport is how long a scheduled report and its deliveries may take. It is shorter than a lease of package
	// running, so that no two workers have a run.
	LongestReport = 9 * time.Minute
	// ReportReserve is the part of LongestReport that is left for the deliveries when the queries must have ended.
	ReportReserve = 2 * time.Minute
	// ReportConcurrency is how many scheduled reports are made at once: the least that an event source can be limited
	// to.
	ReportConcurrency = 2
	// ReportDeliveries is how often the queue delivers a message about a run before it becomes a dead letter. The run
	// itself goes on: report-tick sends a message about each run that has not ended.
	ReportDeliveries = 3
)

package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// logMetrics is the namespace of the metrics that are read from the functions' logs.
const logMetrics = "Orrery"

// logMetric is a metric that is read from the lines of functions' logs.
type logMetric struct {
	name    string // after the name of the deployment
	of      func(function) bool
	pattern string // of the lines
	value   string // 1 counts the lines
}

// The metrics of the functions' logs.
var (
	// rejectedLines counts the lines of raw logs that were put into quarantine.
	rejectedLines = logMetric{
		name:    "rejected",
		of:      func(f function) bool { return f.Name == ingestName },
		pattern: `{ $.msg = "quarantined" }`,
		value:   "$.rejected",
	}
	// importedRecords counts the lines of raw logs that were imported.
	importedRecords = logMetric{
		name:    "imported",
		of:      func(f function) bool { return f.Name == ingestName },
		pattern: `{ $.msg = "imported*" }`,
		value:   "$.records",
	}
	// refusedLogs counts the raw logs that were refused as a whole.
	refusedLogs = logMetric{
		name:    "refused",
		of:      func(f function) bool { return f.Name == ingestName },
		pattern: `{ $.msg = "refused" }`,
		value:   "1",
	}
	// overlappingLogs counts the raw logs whose first records were mostly in the data already.
	overlappingLogs = logMetric{
		name:    "overlapping",
		of:      func(f function) bool { return f.Name == ingestName },
		pattern: `{ $.msg = "overlapping" }`,
		value:   "1",
	}
	// uncheckedLogs counts the raw logs that ingest could not check for records that are in the data already.
	uncheckedLogs = logMetric{
		name:    "unchecked",
		of:      func(f function) bool { return f.Name == ingestName },
		pattern: `{ $.msg = "overlap not checked" }`,
		value:   "1",
	}
	// damagedObjects counts the damaged objects at which queries fail or that compaction sets aside.
	damagedObjects = logMetric{
		name:    "damaged",
		of:      func(f function) bool { return f.asksAthena() || f.Name == compactName },
		pattern: `{ $.msg = "damaged object*" }`,
		value:   "1",
	}
	// newerObjects counts the objects of a newer schema that compaction meets, after a version was rolled back.
	newerObjects = logMetric{
		name:    "newer-schema",
		of:      func(f function) bool { return f.Name == compactName },
		pattern: `{ $.msg = "object of a newer schema*" }`,
		value:   "1",
	}
	// newestAge is the age of the newest record in seconds.
	newestAge = logMetric{
		name:    "newest-age",
		of:      func(f function) bool { return f.Name == compactName },
		pattern: `{ $.msg = "lake" }`,
		value:   "$.newest_age_s",
	}
	// behind is how many seconds compaction is behind the newest record.
	behind = logMetric{
		name:    "behind",
		of:      func(f function) bool { return f.Name == compactName },
		pattern: `{ $.msg = "lake" }`,
		value:   "$.behind_s",
	}
	// lostLogs counts the raw logs that were sent again because they had not arrived.
	lostLogs = logMetric{
		name:    "lost-logs",
		of:      func(f function) bool { return f.Name == reconcileName },
		pattern: `{ $.msg = "reconciled" }`,
		value:   "$.lost",
	}
	// failedReports counts the runs of scheduled reports that have failed, or whose report some destination will not
	// get.
	failedReports = logMetric{
		name:    "failed-reports",
		of:      func(f function) bool { return f.Name == reportName },
		pattern: `{ ($.msg = "scheduled report") && (($.state = "failed") || ($.refused > 0)) }`,
		value:   "1",
	}
	// stillRunning counts the requests that were answered with 504 although nothing failed: their queries continue.
	stillRunning = logMetric{
		name:    "still-running",
		of:      func(f function) bool { return f.behindGateway() && f.asksAthena() },
		pattern: `{ $.msg = "still running" }`,
		value:   "1",
	}
	// athenaThrottled counts the requests that failed because Athena throttled them. Athena has no metric for it.
	athenaThrottled = logMetric{
		name:    "athena-throttled",
		of:      function.asksAthena,
		pattern: `{ $.error = "*TooManyRequestsException*" }`,
		value:   "1",
	}
)

var allLogMetrics = []logMetric{
	rejectedLines, importedRecords, refusedLogs, overlappingLogs, damagedObjects, newerObjects, newestAge, behind,
	lostLogs, failedReports, stillRunning, athenaThrottled, uncheckedLogs,
}

// in returns the name of the metric in a deployment.
func (m logMetric) in(p Props) string { return p.Name + "-" + m.name }

// readMetrics adds the metrics that are read from the log of a function.
func readMetrics(p Props, f function, logs awslogs.LogGroup) {
	for _, m := range allLogMetrics {
		if m.of(f) {
			awslogs.NewMetricFilter(logs, jsii.String(m.name), &awslogs.MetricFilterProps{
				LogGroup:        logs,
				MetricNamespace: jsii.String(logMetrics),
				MetricName:      jsii.String(m.in(p)),
				MetricValue:     jsii.String(m.value),
				FilterPattern:   awslogs.FilterPattern_Literal(jsii.String(m.pattern)),
			})
		}
	}
}

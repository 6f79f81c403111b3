package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// logMetrics is the namespace of the metrics that are counted in the functions' logs.
const logMetrics = "Orrery"

func quarantinedMetric(p Props) string { return p.Name + "-quarantined" }

// countQuarantined counts the lines of ingest's log that report a raw log, or lines of one, put into quarantine.
func countQuarantined(p Props, logs awslogs.LogGroup) {
	awslogs.NewMetricFilter(logs, jsii.String("quarantined"), &awslogs.MetricFilterProps{
		LogGroup:        logs,
		MetricNamespace: jsii.String(logMetrics),
		MetricName:      jsii.String(quarantinedMetric(p)),
		MetricValue:     jsii.String("1"),
		FilterPattern:   awslogs.FilterPattern_Literal(jsii.String(`{ ($.msg = "refused") || ($.rejected > 0) }`)),
	})
}

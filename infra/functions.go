package main

import (
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"

	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
)

// function is one Lambda function: its row in the table of functions, and the further settings that AWS needs.
type function struct {
	lambdas.Function
	needs
}

// needs holds the settings that a function needs on AWS.
type needs struct {
	memory  float64       // MB; a core comes with 1,769
	scratch float64       // MB of temporary files; 0 for the 512 that every function has
	timeout time.Duration // of an event; 0 for lambdas.GatewayTimeout
}

const (
	ingestName    = "ingest"
	compactName   = "compact"
	reconcileName = "reconcile"
	tickName      = "report-tick"
	reportName    = "report"
	notFoundName  = "not-found"
	consoleName   = "console"
)

// needsOf lists the needs of every function.
var needsOf = map[string]needs{
	"topx":            {memory: 1024},
	"stats":           {memory: 1024},
	"timeline":        {memory: 1024},
	"facets":          {memory: 1024},
	"histogram":       {memory: 1024},
	"diff":            {memory: 1024},
	"values":          {memory: 1024},
	"logs":            {memory: 1024},
	"why":             {memory: 1024},
	"query-status":    {memory: 1024},
	"parse":           {memory: 256},
	"fields":          {memory: 256},
	"status":          {memory: 256},
	"planet-get":      {memory: 256},
	"planet-put":      {memory: 256},
	"planet-versions": {memory: 256},
	"filter-get":      {memory: 256},
	"filter-put":      {memory: 256},
	"list-get":        {memory: 256},
	"list-put":        {memory: 256},
	notFoundName:      {memory: 256},
	consoleName:       {memory: 256},
	lambdas.Part:      {memory: lambdas.PartMemory},
	ingestName:        {memory: 3008, scratch: 4096}, // timeout: Props.IngestSeconds
	compactName:       {timeout: lambdas.LongestRun}, // memory and scratch: Props.CompactMegabytes
	reconcileName:     {memory: 512, timeout: lambdas.LongestRun},
	"incidents":       {memory: 1024},
	"effect":          {memory: 1024},
	"whatif":          {memory: 1769},
	"report-now":      {memory: 1024},
	"report-get":      {memory: 256},
	"report-put":      {memory: 256},
	tickName:          {memory: 256, timeout: 4 * time.Minute}, // less than tickMinutes
	reportName:        {memory: 1024, timeout: lambdas.LongestReport},
	lambdas.Older:     {memory: 1024},
}

// functions returns the functions of a deployment, in the order of the table.
func (p Props) functions() []function {
	return slices.DeleteFunc(functions(), func(f function) bool { return f.Name == consoleName && !p.Console })
}

// functions returns every function, in the order of the table.
func functions() []function {
	var all []function
	for _, f := range lambdas.All {
		needs, known := needsOf[f.Name]
		if !known {
			panic("infra: needsOf lacks function " + f.Name)
		}
		if needs.timeout == 0 {
			needs.timeout = lambdas.GatewayTimeout
		}
		all = append(all, function{f, needs})
	}
	return all
}

// behindGateway reports whether the function answers requests.
func (f function) behindGateway() bool { return f.Serves != nil }

// makesReports reports whether the function makes scheduled reports.
func (f function) makesReports() bool { return f.Name == tickName || f.Name == reportName }

// asksAthena reports whether the function runs queries in Athena.
func (f function) asksAthena() bool {
	return permissions.AsksAthena(f.Name)
}

// readsLake reports whether the function answers requests from the records of the lake, or from the lists of their
// values. That takes a time that its variables bound.
func (f function) readsLake() bool {
	reads := slices.Contains(f.Variables, lambdas.LakeBucket) && slices.Contains(f.Variables, lambdas.QueryTimeout)
	return f.behindGateway() && reads
}

// functionOf returns the function that answers a route of the API below the first base path. A route without a function
// is a mistake in the table.
func functionOf(route string) function {
	for _, f := range functions() {
		if f.Name != lambdas.Older && slices.Contains(f.Serves, route) {
			return f
		}
	}
	panic("infra: no function answers route " + route)
}

// architectures lists the architectures by name, in the CDK's terms.
var architectures = map[string]func() awslambda.Architecture{
	"arm64": awslambda.Architecture_ARM_64,
	"amd64": awslambda.Architecture_X86_64,
}

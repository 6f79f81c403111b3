package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
)

// function is one Lambda: what it needs and what it may do.
type function struct {
	name    string
	doc     string
	routes  []string // ids of the API's routes that it answers
	memory  float64  // MB; a core comes with 1,769
	seconds float64
	grants  []grant
}

// answerSeconds is what a function behind the gateway may take: the gateway itself waits 29.
const answerSeconds = 29

// functions is every function, in the order of the routes.
var functions = []function{
	querying("topx", "Top values per category.", "topx", "topx-post"),
	querying("stats", "Traffic per time segment.", "stats", "stats-post"),
	querying("timeline", "Security per time segment.", "timeline", "timeline-post"),
	querying("logs", "Request records.", "logs", "logs-post"),
	{
		name: "query-status", doc: "Answers of queries that take longer than a request.", routes: []string{"query-status", "query-cancel"},
		memory: 512, seconds: answerSeconds, grants: queries,
	},
	{
		name: "parse", doc: "Converts filters.", routes: []string{"parse"},
		memory: 256, seconds: answerSeconds, grants: keys,
	},
	{
		name: "fields", doc: "Lists the fields of filters.", routes: []string{"fields"},
		memory: 256, seconds: answerSeconds, grants: keys,
	},
	{
		name: "planet-get", doc: "Reads planet settings.", routes: []string{"planet-get"},
		memory: 256, seconds: answerSeconds, grants: and(keys, planetRead),
	},
	{
		name: "planet-put", doc: "Writes planet settings.", routes: []string{"planet-put", "planet-restore"},
		memory: 256, seconds: answerSeconds, grants: and(keys, planetRead, planetWrite),
	},
	{
		name: "planet-versions", doc: "Reads the history of planet settings.", routes: []string{"planet-versions", "planet-version"},
		memory: 256, seconds: answerSeconds, grants: and(keys, planetRead),
	},
	{
		name: "not-found", doc: "Answers every other path.",
		memory: 256, seconds: answerSeconds, grants: keys,
	},
	{
		name: ingestName, doc: "Turns raw logs into Parquet.",
		memory: 3008, grants: ingesting, // seconds: Props.IngestSeconds
	},
	{
		name: compactName, doc: "Merges the Parquet objects of an hour.",
		memory: 3008, seconds: 900, grants: compacting,
	},
}

const (
	ingestName   = "ingest"
	compactName  = "compact"
	notFoundName = "not-found"
)

func querying(name, doc string, routes ...string) function {
	return function{name: name, doc: doc, routes: routes, memory: 1024, seconds: answerSeconds, grants: queries}
}

// behindGateway tells whether the function answers HTTP.
func (f function) behindGateway() bool { return f.name != ingestName && f.name != compactName }

// asksAthena tells whether an answer of the function costs a query.
func (f function) asksAthena() bool {
	return slices.ContainsFunc(f.grants, func(g grant) bool { return g.on == workgroup })
}

// functionOf is the function that answers a route of the API. A route without one is a mistake of this table.
func functionOf(route string) function {
	for _, f := range functions {
		if slices.Contains(f.routes, route) {
			return f
		}
	}
	panic("infra: no function answers route " + route)
}

// architectures is the CDK's name of each.
var architectures = map[string]func() awslambda.Architecture{
	"arm64": awslambda.Architecture_ARM_64,
	"amd64": awslambda.Architecture_X86_64,
}

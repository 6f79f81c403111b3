package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"

	"github.com/orrery/orrery/shared/lambdas"
)

// function is one Lambda: its row of the table of functions, and what AWS has to know beside it.
type function struct {
	lambdas.Function
	needs
}

// needs is what a function needs of AWS.
type needs struct {
	memory  float64 // MB; a core comes with 1,769
	scratch float64 // MB of temporary files; 0 for the 512 that every function has
	seconds float64 // that an event may take; 0 for answerSeconds
	grants  []grant
}

// answerSeconds is what a function behind the gateway may take: the gateway itself waits 29.
const answerSeconds = 29

const (
	ingestName   = "ingest"
	compactName  = "compact"
	notFoundName = "not-found"
)

// needsOf is the needs of every function.
var needsOf = map[string]needs{
	"topx":            {memory: 1024, grants: queries},
	"stats":           {memory: 1024, grants: queries},
	"timeline":        {memory: 1024, grants: queries},
	"logs":            {memory: 1024, grants: queries},
	"query-status":    {memory: 1024, grants: queries},
	"parse":           {memory: 256, grants: keys},
	"fields":          {memory: 256, grants: keys},
	"planet-get":      {memory: 256, grants: and(keys, planetRead)},
	"planet-put":      {memory: 256, grants: and(keys, planetRead, planetWrite)},
	"planet-versions": {memory: 256, grants: and(keys, planetRead)},
	notFoundName:      {memory: 256},
	ingestName:        {memory: 3008, scratch: 4096, grants: ingesting}, // seconds: Props.IngestSeconds
	compactName:       {memory: 3008, scratch: 4096, seconds: 900, grants: compacting},
}

// functions is every function, in the order of the table.
func functions() []function {
	var all []function
	for _, f := range lambdas.All {
		needs, known := needsOf[f.Name]
		if !known {
			panic("infra: nothing is said about what function " + f.Name + " needs")
		}
		if needs.seconds == 0 {
			needs.seconds = answerSeconds
		}
		all = append(all, function{f, needs})
	}
	return all
}

// behindGateway tells whether the function answers requests.
func (f function) behindGateway() bool { return f.Serves != nil }

// asksAthena tells whether an answer of the function costs a query.
func (f function) asksAthena() bool {
	return slices.ContainsFunc(f.grants, func(g grant) bool { return g.on == workgroup })
}

// functionOf is the function that answers a route of the API. A route without one is a mistake of the table.
func functionOf(route string) function {
	for _, f := range functions() {
		if slices.Contains(f.Serves, route) {
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

package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/lambdas"
)

// apiStack holds the functions and the gateway. All of it can be deployed again. Its logs outlive it.
type apiStack struct {
	stack       cdk.Stack
	functions   map[string]awslambda.Function
	reportQueue awssqs.Queue // runs of scheduled reports
	gateway     awsapigateway.RestApi
}

func newAPIStack(app constructs.Construct, p Props, data *dataStack) *apiStack {
	a := &apiStack{stack: newStack(app, p, "api", "functions and gateway"), functions: map[string]awslambda.Function{}}
	a.addReportQueue(p)
	for _, f := range p.functions() {
		lambda := a.addFunction(p, data, f)
		a.functions[f.Name] = lambda
		switch f.Name {
		case ingestName:
			feed(lambda, p, data)
		case compactName:
			every := awsevents.Schedule_Rate(cdk.Duration_Minutes(jsii.Number(float64(p.CompactMinutes))))
			a.schedule(lambda, p, f, "Merges the objects of every finished hour", every)
		case reconcileName:
			hourly := awsevents.Schedule_Cron(&awsevents.CronOptions{Minute: jsii.String("17")})
			a.schedule(lambda, p, f, "Sends raw logs again that have not arrived", hourly)
		case tickName:
			every := awsevents.Schedule_Rate(cdk.Duration_Minutes(jsii.Number(tickMinutes)))
			a.schedule(lambda, p, f, "Queues the scheduled reports that are due", every)
		case reportName:
			a.feedReports(lambda)
		}
	}
	a.addGateway(p)
	a.addRoutes(p)
	a.addResponses()
	output(a.stack, "URL", a.gateway.Url(), "Base URL of the API, before /api/v4.0/…")
	output(a.stack, "RestAPI", a.gateway.RestApiId(), "Id of the gateway")
	a.suppress()
	return a
}

// accessLog is a line of the gateway's log. It has no headers and no query strings, because they contain filters and
// keys.
var accessLog = map[string]string{
	"request_id":     "$context.requestId",
	"time":           "$context.requestTime",
	"method":         "$context.httpMethod",
	"resource":       "$context.resourcePath",
	"status":         "$context.status",
	"bytes":          "$context.responseLength",
	"ms":             "$context.responseLatency",
	"integration_ms": "$context.integrationLatency",
	"error":          "$context.error.responseType",
}

func (a *apiStack) addGateway(p Props) {
	logs := awslogs.NewLogGroup(a.stack, jsii.String("AccessLog"), &awslogs.LogGroupProps{
		LogGroupName:  jsii.String(accessLogGroup(p)),
		Retention:     logTerms[p.LogDays],
		RemovalPolicy: keepLogs,
	})
	format, err := json.Marshal(accessLog)
	if err != nil {
		panic(err) // a map of strings is always valid JSON
	}
	a.gateway = awsapigateway.NewRestApi(a.stack, jsii.String("Gateway"), &awsapigateway.RestApiProps{
		RestApiName:      &p.Name,
		Description:      jsii.String("Traffic data and planet settings"),
		EndpointTypes:    &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		CloudWatchRole:   &p.GatewayAccount,
		BinaryMediaTypes: jsii.Strings("*/*"), // compressed responses are base64, see package lambdahttp
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            &p.Stage,
			ThrottlingRateLimit:  jsii.Number(float64(p.RequestsPerSecond)),
			ThrottlingBurstLimit: jsii.Number(float64(p.Burst)),
			MethodOptions:        dataThrottles(p),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(logs),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(string(format))),
		},
	})
	if p.Domain != "" {
		a.addDomain(p)
	}
}

func (a *apiStack) addDomain(p Props) {
	id := jsii.String("Certificate")
	certificate := awscertificatemanager.Certificate_FromCertificateArn(a.stack, id, &p.Certificate)
	domain := a.gateway.AddDomainName(jsii.String("Domain"), &awsapigateway.DomainNameOptions{
		DomainName:     &p.Domain,
		Certificate:    certificate,
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	})
	output(a.stack, "DomainTarget", domain.DomainNameAliasDomainName(), "Point an alias record of the domain here")
}

// dataThrottles limits each data route to half of the gateway's rate, and so each method of an older base path, for all
// routes together. Queries cost the most, and a flood of them leaves room for the rest of the API.
func dataThrottles(p Props) *map[string]*awsapigateway.MethodDeploymentOptions {
	half := &awsapigateway.MethodDeploymentOptions{
		ThrottlingRateLimit:  jsii.Number(float64(p.RequestsPerSecond) / 2),
		ThrottlingBurstLimit: jsii.Number(float64(p.Burst) / 2),
	}
	all := map[string]*awsapigateway.MethodDeploymentOptions{}
	for _, r := range api.Routes() {
		if functionOf(r.ID).readsLake() {
			all[ownBase()+r.Path+"/"+r.Method] = half
		}
	}
	for _, path := range olderPaths() {
		for _, method := range anyMethod {
			all[path+"/"+method] = half
		}
	}
	return &all
}

// anyMethod lists the methods that ANY stands for. A stage has a limit for each of them, but none for ANY.
var anyMethod = []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}

// ownBase returns the base path below which each route has its own function.
func ownBase() string { return api.BasePaths()[0] }

// olderPaths returns the paths of the gateway that lambdas.Older answers: everything below the other base paths.
func olderPaths() (paths []string) {
	for _, base := range api.BasePaths()[1:] {
		paths = append(paths, base+"/{proxy+}")
	}
	return paths
}

// addRoutes connects every route of the API to its function. Other methods of a known path go to the same function, and
// its handler lists the methods it allows. Everything below the older base paths goes to one function. The console is
// at / and below /console. Other paths, and without a console these, too, go to not-found, which also serves the
// interactive page.
func (a *apiStack) addRoutes(p Props) {
	byPath := map[string][]api.Route{}
	for _, r := range api.Routes() {
		path := gatewayPath(r.Path)
		sameMethod := func(other api.Route) bool { return other.Method == r.Method }
		if !slices.ContainsFunc(byPath[path], sameMethod) {
			byPath[path] = append(byPath[path], r)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		resource := a.gateway.Root().ResourceForPath(jsii.String(ownBase() + path))
		for _, r := range byPath[path] {
			a.addMethod(resource, r.Method, functionOf(r.ID).Name)
		}
		a.addMethod(resource, "ANY", functionOf(byPath[path][0].ID).Name)
	}
	other := otherPaths(p)
	for _, path := range slices.Sorted(maps.Keys(other)) {
		a.addMethod(a.gateway.Root().ResourceForPath(&path), "ANY", other[path])
	}
}

// otherPaths returns the functions of the paths that are not routes of the API below ownBase.
func otherPaths(p Props) map[string]string {
	// The gateway itself refuses paths that are only the beginning of others, so /api has a method of its own.
	paths := map[string]string{"/": notFoundName, "/api": notFoundName, "/{proxy+}": notFoundName}
	if p.Console {
		paths["/"], paths["/console/{file}"] = consoleName, consoleName
	}
	for _, path := range olderPaths() {
		paths[path] = lambdas.Older
	}
	return paths
}

// gatewayPath returns the path by which the gateway knows a route. All paths of scheduled reports are one, because a
// stack may have no more than 500 resources: one function reads, the other one writes.
func gatewayPath(route string) string {
	const reports = "/conf/{config}/reports/"
	if strings.HasPrefix(route, reports) {
		return reports + "{proxy+}"
	}
	return route
}

// addMethod adds a method that invokes a function. It does not use the CDK's own Lambda integration, which adds two
// permissions for each method, so that a function's policy would exceed its limit of 20 kB.
func (a *apiStack) addMethod(resource awsapigateway.IResource, method, function string) {
	arn := a.functions[function].FunctionArn()
	uri := a.stack.FormatArn(&cdk.ArnComponents{
		Service: jsii.String("apigateway"), Account: jsii.String("lambda"), Resource: jsii.String("path"),
		ResourceName: jsii.String("2015-03-31/functions/" + *arn + "/invocations"),
	})
	integration := awsapigateway.NewIntegration(&awsapigateway.IntegrationProps{
		Type: awsapigateway.IntegrationType_AWS_PROXY, IntegrationHttpMethod: jsii.String("POST"), Uri: uri,
		Options: &awsapigateway.IntegrationOptions{Timeout: seconds(lambdas.GatewayTimeout.Seconds())},
	})
	resource.AddMethod(&method, integration, &awsapigateway.MethodOptions{
		AuthorizationType: awsapigateway.AuthorizationType_NONE,
	})
}

// gatewayResponse is an error that the gateway itself returns, in the format of the API's other errors.
type gatewayResponse struct {
	kind       string
	status     int
	message    string
	retryAfter int // seconds; 0 if a retry does not help
}

const timeoutMessage = "The answer took longer than a request may. " +
	"Narrow the period, or ask with Prefer: respond-async."

var gatewayResponses = []gatewayResponse{
	{"DEFAULT_4XX", 400, "The request could not be read.", 0},
	{"DEFAULT_5XX", 500, "Internal error.", 0},
	{"ACCESS_DENIED", 403, "Access was denied.", 0},
	{"BAD_REQUEST_BODY", 400, "The body of the request could not be read.", 0},
	{"BAD_REQUEST_PARAMETERS", 400, "The parameters of the request could not be read.", 0},
	{"INTEGRATION_FAILURE", 503, "The service is unavailable.", 5},
	{"INTEGRATION_TIMEOUT", 504, timeoutMessage, 5},
	{"INVALID_SIGNATURE", 401, "An API key is needed: Authorization: Basic <api key>.", 0},
	{"MISSING_AUTHENTICATION_TOKEN", 404, "There is nothing at this path.", 0}, // for an unknown path
	{"REQUEST_TOO_LARGE", 413, "The request is larger than 10 MB.", 0},
	{"RESOURCE_NOT_FOUND", 404, "There is nothing at this path.", 0},
	{"THROTTLED", 429, "Too many requests.", 1},
	{"UNAUTHORIZED", 401, "An API key is needed: Authorization: Basic <api key>.", 0},
	{"UNSUPPORTED_MEDIA_TYPE", 415, "The media type of the body is not supported.", 0},
	{"WAF_FILTERED", 403, "Access was denied.", 0},
}

func (a *apiStack) addResponses() {
	for _, r := range gatewayResponses {
		headers := map[string]*string{"Cache-Control": jsii.String("'no-store'")}
		if r.retryAfter > 0 {
			headers["Retry-After"] = jsii.String("'" + strconv.Itoa(r.retryAfter) + "'")
		}
		a.gateway.AddGatewayResponse(jsii.String(r.kind), &awsapigateway.GatewayResponseOptions{
			Type:            awsapigateway.ResponseType_Of(jsii.String(r.kind)),
			StatusCode:      jsii.String(strconv.Itoa(r.status)),
			ResponseHeaders: &headers,
			Templates:       &map[string]*string{"application/json": jsii.String(r.body())},
		})
	}
}

func (r gatewayResponse) body() string {
	return `{"code":` + strconv.Itoa(r.status) + `,"message":"` + r.message + `","request_id":"$context.requestId"}`
}

func accessLogGroup(p Props) string { return "/orrery/" + p.Name + "/gateway" }

func logGroup(p Props, f function) string { return "/aws/lambda/" + functionName(p, f.Name) }

func functionName(p Props, name string) string { return p.Name + "-" + name }

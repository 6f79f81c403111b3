package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/athena/types"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/deadline"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
)

func TestNagFindsNothing(t *testing.T) {
	for _, finding := range deployed(t).findings {
		t.Error(finding)
	}
}

func TestDataOutlivesItsStack(t *testing.T) {
	d := deployed(t)
	for _, kind := range []string{"AWS::S3::Bucket", "AWS::DynamoDB::Table"} {
		ids := d.data.of(kind)
		if len(ids) == 0 {
			t.Errorf("the data stack has no %s", kind)
		}
		for _, id := range ids {
			r := d.data.Resources[id]
			if r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
				t.Errorf("%s is not retained: DeletionPolicy %q, UpdateReplacePolicy %q",
					id, r.DeletionPolicy, r.UpdateReplacePolicy)
			}
		}
	}
	for _, other := range []template{d.api, d.ops} {
		for id, r := range other.Resources {
			if slices.Contains([]string{"AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::Glue::Table"}, r.Type) {
				t.Errorf("%s (%s) belongs in the data stack", id, r.Type)
			}
		}
	}
	table := d.data.Resources[d.data.of("AWS::DynamoDB::Table")[0]]
	for path, want := range map[string]any{
		"PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": true,
		"DeletionProtectionEnabled":                                   true,
		"TimeToLiveSpecification.AttributeName":                       "expires",
		"TimeToLiveSpecification.Enabled":                             true,
	} {
		if got := table.at(path); got != want {
			t.Errorf("the table's %s is %v, not %v", path, got, want)
		}
	}
}

// rejected are the folders of lines and logs that are no records. The logs themselves stay in the bucket of raw logs.
var rejected = []string{"quarantine/lines/", "quarantine/whole/"}

func TestDefaultsDeleteNoData(t *testing.T) {
	d := deployed(t)
	for _, id := range d.data.of("AWS::S3::Bucket") {
		keeps := !strings.HasPrefix(id, "Results")
		rules, _ := d.data.Resources[id].at("LifecycleConfiguration.Rules").([]any)
		deletes := slices.ContainsFunc(rules, func(r any) bool {
			prefix, _ := at(r, "Prefix").(string)
			return at(r, "ExpirationInDays") != nil && !slices.Contains(rejected, prefix)
		})
		if keeps == deletes {
			t.Errorf("bucket %s: deletes objects by age: %v", id, deletes)
		}
		if versions := d.data.Resources[id].at("VersioningConfiguration.Status"); keeps && versions != "Enabled" {
			t.Errorf("bucket %s keeps no old versions", id)
		}
	}
}

// TestStagedCopiesGoSoon: the old versions of staged copies and of bundles, which have the bytes or the records of other
// objects, go after a day, and all others after 14.
func TestStagedCopiesGoSoon(t *testing.T) {
	d := deployed(t)
	got := map[string]any{}
	for _, id := range d.data.of("AWS::S3::Bucket") {
		rules, _ := d.data.Resources[id].at("LifecycleConfiguration.Rules").([]any)
		for _, r := range rules {
			if days := at(r, "NoncurrentVersionExpiration.NoncurrentDays"); days != nil {
				prefix, _ := at(r, "Prefix").(string)
				bucket, _, _ := strings.Cut(id, "Bucket")
				got[strings.TrimRight(bucket, "0123456789ABCDEF")+" "+prefix] = days
			}
		}
	}
	want := map[string]any{"Raw ": 14.0, "Lake ": 14.0, "Lake lake/_staging/": 1.0, "Lake lake/_bundles/": 1.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("days that old versions are kept (-want +got):\n%s", diff)
	}
}

func TestBucketsAndQueuesArePrivate(t *testing.T) {
	d := deployed(t)
	const encryption = "BucketEncryption.ServerSideEncryptionConfiguration.0.ServerSideEncryptionByDefault.SSEAlgorithm"
	const noTLS, oldTLS = `"aws:SecureTransport":"false"`, `"s3:TlsVersion":1.2`
	blocks := []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"}
	for _, id := range d.data.of("AWS::S3::Bucket") {
		b := d.data.Resources[id]
		for _, block := range blocks {
			if b.at("PublicAccessBlockConfiguration."+block) != true {
				t.Errorf("bucket %s: %s is not set", id, block)
			}
		}
		if b.at(encryption) == nil {
			t.Errorf("bucket %s is not encrypted", id)
		}
		denied := denials(d.data, "AWS::S3::BucketPolicy", "Bucket", id)
		if !strings.Contains(denied, noTLS) || !strings.Contains(denied, oldTLS) {
			t.Errorf("bucket %s can be read without TLS 1.2; it denies %s", id, denied)
		}
	}
	for _, stack := range []template{d.data, d.api} {
		for _, id := range stack.of("AWS::SQS::Queue") {
			if stack.Resources[id].at("SqsManagedSseEnabled") != true {
				t.Errorf("queue %s is not encrypted", id)
			}
			if denied := denials(stack, "AWS::SQS::QueuePolicy", "Queues", id); !strings.Contains(denied, noTLS) {
				t.Errorf("queue %s can be used without TLS; it denies %s", id, denied)
			}
		}
	}
}

// denials returns the conditions under which the policies of a resource deny everybody.
func denials(t template, kind, property, id string) string {
	var all []string
	for _, policy := range t.of(kind) {
		p := t.Resources[policy]
		if !strings.Contains(flat(p.Properties[property]), "<"+id+">") {
			continue
		}
		for _, s := range p.at("PolicyDocument.Statement").([]any) {
			if at(s, "Effect") == "Deny" && flat(at(s, "Principal.AWS")) == "*" {
				all = append(all, flat(at(s, "Condition")))
			}
		}
	}
	return strings.Join(all, " ")
}

func TestWorkgroupsLimitScans(t *testing.T) {
	d := deployed(t)
	cutoffs := map[string]float64{
		"orrery-interactive": float64(defaults.InteractiveCutoff),
		"orrery-reports":     float64(defaults.ReportsCutoff),
	}
	for _, id := range d.data.of("AWS::Athena::WorkGroup") {
		w := d.data.Resources[id]
		name := flat(w.Properties["Name"])
		if w.at("WorkGroupConfiguration.EnforceWorkGroupConfiguration") != true {
			t.Errorf("%s: a query can override its settings", name)
		}
		if got := w.at("WorkGroupConfiguration.BytesScannedCutoffPerQuery"); got != cutoffs[name] {
			t.Errorf("%s: a query may scan %v bytes, not %v", name, got, cutoffs[name])
		}
		delete(cutoffs, name)
	}
	if len(cutoffs) > 0 {
		t.Errorf("workgroups are missing: %v", cutoffs)
	}
}

func TestRawLogsReachIngest(t *testing.T) {
	d := deployed(t)
	var target string
	for _, id := range d.data.of("AWS::S3::Bucket") {
		if n := d.data.Resources[id].at("NotificationConfiguration.QueueConfigurations.0"); n != nil {
			target = strings.Trim(flat(at(n, "Queue")), "<>")
			if prefix := at(n, "Filter.S3Key.Rules.0.Value"); prefix != rawFolder {
				t.Errorf("the bucket sends notifications for objects under %v", prefix)
			}
		}
	}
	queue, ok := d.data.Resources[target]
	if !ok {
		t.Fatal("no bucket sends notifications to a queue")
	}
	if redrive := queue.at("RedrivePolicy"); at(redrive, "maxReceiveCount") != float64(lambdas.Deliveries) {
		t.Errorf("a message does not become a dead letter after %d deliveries: %v", lambdas.Deliveries, redrive)
	}
	// AWS refuses less than the timeout, and a log whose run was killed waits for this long.
	if hidden := queue.at("VisibilityTimeout"); hidden != float64(defaults.IngestSeconds+60) {
		t.Errorf("a message is hidden for %v s, a minute more than the timeout of %d s", hidden, defaults.IngestSeconds)
	}
	source := sourceOf(t, d.api, ingestName)
	if got := source.at("BatchSize"); got != 1.0 {
		t.Errorf("a message waits for the logs of %v others", got)
	}
	if got := flat(source.at("FunctionResponseTypes")); got != "ReportBatchItemFailures" {
		t.Errorf("a failed message of a batch fails the others: response types %q", got)
	}
	if got := source.at("ScalingConfig.MaximumConcurrency"); got != float64(defaults.IngestConcurrency) {
		t.Errorf("ingest can take every instance of the account: maximum concurrency %v", got)
	}
	for _, id := range d.api.of("AWS::Lambda::Function") {
		f := d.api.Resources[id]
		if reserved := f.at("ReservedConcurrentExecutions"); reserved != nil {
			name := flat(f.Properties["FunctionName"])
			t.Errorf("%s reserves %v instances, which a new account cannot", name, reserved)
		}
	}
}

// sourceOf returns the event source of a function.
func sourceOf(t *testing.T, api template, function string) resource {
	t.Helper()
	for _, id := range api.of("AWS::Lambda::EventSourceMapping") {
		name := strings.Trim(flat(api.Resources[id].Properties["FunctionName"]), "<>")
		if flat(api.Resources[name].Properties["FunctionName"]) == "orrery-"+function {
			return api.Resources[id]
		}
	}
	t.Fatalf("%s has no event source", function)
	return resource{}
}

func TestRunsReachReport(t *testing.T) {
	d := deployed(t)
	source := sourceOf(t, d.api, reportName)
	queue := d.api.Resources[strings.Trim(flat(source.Properties["EventSourceArn"]), "<>")]
	if got, want := queue.at("VisibilityTimeout"), 6*lambdas.LongestReport.Seconds(); got != want {
		t.Errorf("a message is hidden for %v s, want %v", got, want)
	}
	if redrive := queue.at("RedrivePolicy"); at(redrive, "maxReceiveCount") != float64(lambdas.ReportDeliveries) {
		t.Errorf("a message does not become a dead letter after %d deliveries: %v", lambdas.ReportDeliveries, redrive)
	}
	if got := source.at("BatchSize"); got != 1.0 {
		t.Errorf("a message waits for %v others", got)
	}
	if got := flat(source.at("FunctionResponseTypes")); got != "ReportBatchItemFailures" {
		t.Errorf("response types %q", got)
	}
	if got := source.at("ScalingConfig.MaximumConcurrency"); got != float64(lambdas.ReportConcurrency) {
		t.Errorf("reports can take every instance of the account: maximum concurrency %v", got)
	}
	for _, id := range d.api.of("AWS::Lambda::Function") {
		f := d.api.Resources[id]
		variables, _ := f.at("Environment.Variables").(map[string]any)
		if flat(f.Properties["FunctionName"]) == "orrery-report" &&
			(flat(variables["ORRERY_WORKGROUP"]) != "orrery-reports" || flat(variables["ORRERY_REPORTS"]) != everyDestination) {
			t.Errorf("report has the variables %v", variables)
		}
	}
}

// TestReservedConcurrency: with reserve-concurrency, ingest, the functions of the schedules and report have instances
// of their own, which requests cannot take.
func TestReservedConcurrency(t *testing.T) {
	deployed(t) // skips the test where stacks cannot be synthesized
	p := defaults
	p.ReserveConcurrency = true
	d := synthesizeWith(p, false)
	if d.err != nil {
		t.Fatal(d.err)
	}
	got := map[string]any{}
	for _, id := range d.api.of("AWS::Lambda::Function") {
		f := d.api.Resources[id]
		if reserved := f.at("ReservedConcurrentExecutions"); reserved != nil {
			got[flat(f.Properties["FunctionName"])] = reserved
		}
	}
	want := map[string]any{
		"orrery-ingest": float64(defaults.IngestConcurrency), "orrery-compact": 2.0, "orrery-reconcile": 1.0,
		"orrery-report": float64(lambdas.ReportConcurrency),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
}

func TestLeastPrivilege(t *testing.T) {
	d := deployed(t)
	want := map[string][]string{}
	for _, f := range functions() {
		acts := []string{"logs:CreateLogStream", "logs:PutLogEvents"}
		for _, g := range permissions.Of(f.Name) { // of destinations, too: there is one of each kind
			acts = append(acts, g.Actions...)
		}
		slices.Sort(acts)
		want["orrery-"+f.Name] = slices.Compact(acts)
	}
	got := map[string][]string{}
	for _, id := range d.api.of("AWS::Lambda::Function") {
		f := d.api.Resources[id]
		role := d.api.Resources[strings.Trim(flat(f.Properties["Role"]), "<>")]
		if managed := role.Properties["ManagedPolicyArns"]; managed != nil {
			t.Errorf("%s has managed policies: %s", id, flat(managed))
		}
		var acts []string
		for _, policy := range role.Properties["Policies"].([]any) {
			for _, s := range at(policy, "PolicyDocument.Statement").([]any) {
				acts = append(acts, strings.Split(flat(at(s, "Action")), ", ")...)
				resource := flat(at(s, "Resource"))
				if strings.HasPrefix(resource, "*") || strings.Contains(resource, ", *") {
					t.Errorf("%s may do %s on every resource", id, flat(at(s, "Action")))
				}
			}
		}
		slices.Sort(acts)
		name := flat(f.Properties["FunctionName"])
		got[name] = slices.Compact(acts)
		if i := slices.IndexFunc(acts, func(a string) bool { return strings.Contains(a, "*") }); i >= 0 {
			t.Errorf("%s may do %s", id, acts[i])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the permissions of functions differ (-package permissions +template):\n%s", diff)
	}
	if policies := d.api.of("AWS::IAM::Policy"); len(policies) > 0 {
		t.Errorf("policies that are not from package permissions: %v", policies)
	}
}

func TestEveryRouteReachesItsFunction(t *testing.T) {
	got := routesOf(deployed(t).api)
	first := map[string]string{} // the function of the first route of each path
	for _, r := range api.Routes() {
		name, path := functionOf(r.ID).Name, gatewayPath(r.Path)
		if first[path] == "" {
			first[path] = name
		}
		for _, want := range []string{
			"/api/v4.0" + path + " " + r.Method + " → orrery-" + name,
			"/api/v4.0" + path + " ANY → orrery-" + first[path], // it lists the methods of the path
		} {
			if !slices.Contains(got, want) {
				t.Errorf("the gateway lacks %s", want)
			}
		}
	}
	for _, want := range []string{
		"/api/v4/{proxy+} ANY → orrery-older", "/api/v4.3/{proxy+} ANY → orrery-older",
		"/ ANY → orrery-console", "/console/{file} ANY → orrery-console", "/{proxy+} ANY → orrery-not-found",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the gateway lacks %s", want)
		}
	}
}

// mostResources is fewer than the 500 resources that CloudFormation allows a stack. A route with a function of its own
// takes about 13.
const mostResources = 450

// TestResources: no stack comes near the limit of CloudFormation.
func TestResources(t *testing.T) {
	d := deployed(t)
	for name, stack := range map[string]template{"data": d.data, "api": d.api, "ops": d.ops} {
		n := len(stack.Resources)
		t.Logf("the stack %s has %d resources", name, n)
		if n > mostResources {
			t.Errorf("the stack %s has %d resources, more than %d", name, n, mostResources)
		}
	}
}

// mostPolicy is how many characters the policies of a role may have.
const mostPolicy = 10_240

// TestPoliciesFit: IAM accepts the policy of each function. lambdas.Older has the longest one.
func TestPoliciesFit(t *testing.T) {
	d := deployed(t)
	for _, id := range d.api.of("AWS::Lambda::Function") {
		role := d.api.Resources[strings.Trim(flat(d.api.Resources[id].Properties["Role"]), "<>")]
		n := 0
		for _, policy := range role.Properties["Policies"].([]any) {
			n += len(resolved(at(policy, "PolicyDocument")))
		}
		if n > mostPolicy {
			t.Errorf("the policy of %s has %d characters", id, n)
		}
	}
}

// resolved returns a policy as text, with an ARN of usual length for each reference.
func resolved(policy any) string {
	const arn = "arn:aws:dynamodb:ap-southeast-2:123456789012:table/orrery-data-TableCD117FA1-1ABCDEFGHIJKL"
	text, err := json.Marshal(policy)
	if err != nil {
		panic(err) // the policy was parsed from JSON
	}
	return reference.ReplaceAllString(string(text), `"`+arn+`"`)
}

var reference = regexp.MustCompile(`\{"(Ref|Fn::GetAtt|Fn::ImportValue)":("[^"]*"|\[[^]]*\])\}`)

// TestThrottles: each data route may take half of the gateway's rate, and so may each method of an older base path.
func TestThrottles(t *testing.T) {
	d := deployed(t)
	stage := d.api.Resources[d.api.of("AWS::ApiGateway::Stage")[0]]
	got := map[string]any{}
	for _, s := range stage.Properties["MethodSettings"].([]any) {
		got[flat(at(s, "HttpMethod"))+" "+flat(at(s, "ResourcePath"))] = at(s, "ThrottlingRateLimit")
		if at(s, "MetricsEnabled") == true {
			t.Errorf("%v %v has metrics, which nothing reads", at(s, "HttpMethod"), at(s, "ResourcePath"))
		}
	}
	whole, half := float64(defaults.RequestsPerSecond), float64(defaults.RequestsPerSecond)/2
	want := map[string]any{"* /*": whole}
	for _, method := range []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"} {
		want[method+" /~1api~1v4~1{proxy+}"], want[method+" /~1api~1v4.3~1{proxy+}"] = half, half
	}
	for _, r := range api.Routes() {
		if functionOf(r.ID).readsLake() {
			want[r.Method+" /~1api~1v4.0"+strings.ReplaceAll(r.Path, "/", "~1")] = half
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests per second (-want +got):\n%s", diff)
	}
}

// TestConsoleCanBeLeftOut checks that a deployment without the console has neither its function nor its paths.
func TestConsoleCanBeLeftOut(t *testing.T) {
	for value, deployed := range map[string]bool{"true": true, "false": false} {
		t.Run("with the value "+value, func(t *testing.T) {
			p, err := readProps(func(name string) any { return map[string]any{"console": value}[name] })
			if err != nil {
				t.Fatal(err)
			}
			isConsole := func(f function) bool { return f.Name == consoleName }
			if got := slices.ContainsFunc(p.functions(), isConsole); got != deployed {
				t.Errorf("the function is deployed: %v", got)
			}
			paths := otherPaths(p)
			if got := paths["/"] == consoleName && paths["/console/{file}"] == consoleName; got != deployed {
				t.Errorf("the paths are the console's: %v", got)
			}
			if !deployed && (paths["/"] != notFoundName || len(paths) != 5) {
				t.Errorf("without the console, the paths are %v", paths)
			}
		})
	}
}

func TestGatewayErrorsHaveTheFormatOfTheAPI(t *testing.T) {
	d := deployed(t)
	needed := []string{
		"DEFAULT_4XX", "DEFAULT_5XX", "INTEGRATION_TIMEOUT", "MISSING_AUTHENTICATION_TOKEN", "REQUEST_TOO_LARGE",
		"THROTTLED",
	}
	for _, id := range d.api.of("AWS::ApiGateway::GatewayResponse") {
		r := d.api.Resources[id]
		kind := flat(r.Properties["ResponseType"])
		needed = slices.DeleteFunc(needed, func(n string) bool { return n == kind })
		var body map[string]any
		text := flat(at(r.Properties["ResponseTemplates"], "application/json"))
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if fmt.Sprint(body["code"]) != flat(r.Properties["StatusCode"]) {
			t.Errorf("%s: the code is %v, but the status is %v", kind, body["code"], r.Properties["StatusCode"])
		}
		if body["request_id"] != "$context.requestId" || body["message"] == "" || len(body) != 3 {
			t.Errorf("%s: the body is %v", kind, body)
		}
		headers, _ := r.Properties["ResponseParameters"].(map[string]any)
		retry := headers["gatewayresponse.header.Retry-After"] != nil
		if wanted := slices.Contains([]string{"429", "503", "504"}, flat(r.Properties["StatusCode"])); retry != wanted {
			t.Errorf("%s: has a Retry-After header: %v", kind, retry)
		}
	}
	if len(needed) > 0 {
		t.Errorf("the gateway uses its own texts for %v", needed)
	}
}

func TestGatewayLogsNeitherHeadersNorQueries(t *testing.T) {
	d := deployed(t)
	stage := d.api.Resources[d.api.of("AWS::ApiGateway::Stage")[0]]
	format := flat(stage.at("AccessLogSetting.Format"))
	allowed := []string{
		"$context.requestId", "$context.requestTime", "$context.httpMethod", "$context.resourcePath", "$context.status",
		"$context.responseLength", "$context.responseLatency", "$context.integrationLatency",
		"$context.error.responseType",
	}
	for _, variable := range regexp.MustCompile(`\$[a-zA-Z.]+`).FindAllString(format, -1) {
		if !slices.Contains(allowed, variable) {
			t.Errorf("the access log contains %s", variable)
		}
	}
	settings, _ := stage.Properties["MethodSettings"].([]any)
	if len(settings) < 2 {
		t.Fatalf("throttles: %v", settings)
	}
	for _, s := range settings {
		if at(s, "ThrottlingRateLimit") == nil || at(s, "ThrottlingBurstLimit") == nil {
			t.Errorf("%v %v is not throttled", at(s, "ResourcePath"), at(s, "HttpMethod"))
		}
		if at(s, "DataTraceEnabled") == true {
			t.Errorf("%v %v: bodies are logged", at(s, "ResourcePath"), at(s, "HttpMethod"))
		}
	}
}

func TestAlarmsNameTheirRunbook(t *testing.T) {
	d := deployed(t)
	used := map[string]bool{}
	for _, id := range d.ops.of("AWS::CloudWatch::Alarm") {
		text := flat(d.ops.Resources[id].Properties["AlarmDescription"])
		_, section, ok := strings.Cut(text, runbooks)
		if !ok {
			t.Errorf("%s names no runbook: %q", id, text)
		}
		used[section] = true
		if d.ops.Resources[id].Properties["AlarmActions"] == nil {
			t.Errorf("%s has no recipient", id)
		}
	}
	text, err := os.ReadFile("../events/RUNBOOKS.md")
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	for _, heading := range regexp.MustCompile("(?m)^## (.+)$").FindAllStringSubmatch(string(text), -1) {
		written[strings.ReplaceAll(strings.ToLower(heading[1]), " ", "-")] = true
	}
	for section := range used {
		if !written[section] {
			t.Errorf("an alarm names a runbook that does not exist: %s", section)
		}
	}
	for section := range written {
		if !used[section] {
			t.Errorf("no alarm names the runbook %s", section)
		}
	}
}

func TestLogsExpire(t *testing.T) {
	d := deployed(t)
	groups := d.api.of("AWS::Logs::LogGroup")
	if want := len(functions()) + 1; len(groups) != want {
		t.Errorf("%d log groups; want one for each function and one for the gateway: %d", len(groups), want)
	}
	for _, id := range groups {
		if got := d.api.Resources[id].at("RetentionInDays"); got != float64(defaults.LogDays) {
			t.Errorf("%s keeps logs for %v days", id, got)
		}
	}
}

// TestLogsOutliveTheirStack: logs stay when the stack of the API is deleted. CloudFormation imports them into a new one
// only if their names are constant.
func TestLogsOutliveTheirStack(t *testing.T) {
	d := deployed(t)
	for _, id := range d.api.of("AWS::Logs::LogGroup") {
		r := d.api.Resources[id]
		if r.DeletionPolicy != "RetainExceptOnCreate" || r.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s is not retained: DeletionPolicy %q, UpdateReplacePolicy %q",
				id, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
		if name, constant := r.Properties["LogGroupName"].(string); !constant {
			t.Errorf("the name of %s is no constant, but %v", id, name)
		}
	}
}

func TestProps(t *testing.T) {
	read := func(given map[string]any) (Props, error) {
		return readProps(func(name string) any { return given[name] })
	}
	t.Run("the defaults are valid", func(t *testing.T) {
		if got, err := read(nil); err != nil || got != defaults {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("strings, numbers and booleans are read", func(t *testing.T) {
		got, err := read(map[string]any{"name": "shop", "log-days": "7", "gateway-account": "false", "burst": 50.0})
		if err != nil || got.Name != "shop" || got.LogDays != 7 || got.GatewayAccount || got.Burst != 50 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("reports are an object, its text, or a file", func(t *testing.T) {
		const want = `{"destination":{"archive":{"bucket":"shop-archive"}}}`
		file := filepath.Join(t.TempDir(), "reports.json")
		text := `{ "destination": {"archive": {"bucket": "shop-archive"}} }`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var object any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		for name, given := range map[string]any{"an object": object, "its text": text, "a file": file} {
			got, err := read(map[string]any{"reports": given})
			if err != nil || got.Reports != want || len(got.destinations().Needs().Buckets) != 1 {
				t.Errorf("%s: %s, %v", name, got.Reports, err)
			}
		}
		for name, given := range map[string]any{
			"an unknown member": `{"destinations":{}}`, "a missing file": file + "2", "a folder": `{"destination":{"a":{"folder":"/tmp"}}}`,
		} {
			if _, err := read(map[string]any{"reports": given}); err == nil || !strings.Contains(err.Error(), "property reports") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("destinations have room in a policy", func(t *testing.T) {
		for number, want := range map[int]bool{60: true, 85: false} {
			var list []string
			for i := range number {
				list = append(list, fmt.Sprintf(`"%d":{"slack-parameter":"/%[1]d"}`, i))
			}
			_, err := read(map[string]any{"reports": `{"destination":{` + strings.Join(list, ",") + `}}`})
			if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "so many destinations") {
				t.Errorf("%d destinations: %v", number, err)
			}
		}
	})
	t.Run("an error names every invalid property", func(t *testing.T) {
		invalid := map[string]any{
			"name": "Shop", "architecture": "mips", "log-days": "8", "domain": "api.shop.example",
			"interactive-cutoff": "5", "burst": "many", "quiet-hours": "0", "ingest-seconds": "901",
			"ingest-concurrency": "1", "projection-from": "70", "reports": "{", "result-days": "1",
		}
		_, err := read(invalid)
		for name := range invalid {
			if err == nil || !regexp.MustCompile(`propert(y|ies) `+name).MatchString(err.Error()) {
				t.Errorf("property %s is not named in: %v", name, err)
			}
		}
	})
	t.Run("an error about a missing zip names the script that builds it", func(t *testing.T) {
		p := defaults
		p.Zips = t.TempDir()
		if err := p.checkZips(); err == nil || !strings.Contains(err.Error(), "scripts/build.sh") {
			t.Error(err)
		}
	})
	t.Run("README.md lists every property", func(t *testing.T) {
		text, err := os.ReadFile("README.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range new(Props).settings() {
			row := regexp.MustCompile("(?m)^\\| `" + s.name + "` \\|.*\\| " + regexp.QuoteMeta(s.doc) + " \\|$")
			if !row.Match(text) {
				t.Errorf("README.md lacks the row | `%s` | … | %s |", s.name, s.doc)
			}
		}
	})
}

// TestLimits compares the time limits of the deployment with the limits in the code that runs in it.
func TestLimits(t *testing.T) {
	const day = 24 * time.Hour
	queryTimeout, err := time.ParseDuration(lambdas.QueryTimeout.Default)
	if err != nil {
		t.Fatal(err)
	}
	if queryTimeout >= lambdas.GatewayTimeout {
		t.Errorf("a request waits %v for its query, but the gateway waits %v", queryTimeout, lambdas.GatewayTimeout)
	}
	if kept := time.Duration(defaults.ResultDays) * day; kept <= lambdas.KeepQueries {
		t.Errorf("results are kept for %v, queries for %v", kept, lambdas.KeepQueries)
	}
	if lambdas.ShortestIngest <= deadline.DefaultReserve {
		t.Errorf("a run of %v is too short for a reserve of %v", lambdas.ShortestIngest, deadline.DefaultReserve)
	}
	// The hour to spare covers a run of compact, see engine.KeepSuperseded.
	if spare := engine.KeepSuperseded - engine.LongestExecution; spare <= needsOf[compactName].timeout {
		t.Errorf("%v are left for a run of compact that may take %v", spare, needsOf[compactName].timeout)
	}
	if first := strconv.Itoa(defaults.ProjectionFrom); first != lambdas.ProjectionFrom.Default {
		t.Errorf("the first year is %s here and %s in package lambdas", first, lambdas.ProjectionFrom.Default)
	}
	if days := strconv.Itoa(defaults.HorizonDays); days != lambdas.HorizonDays.Default ||
		time.Duration(defaults.HorizonDays)*24*time.Hour != ingest.DefaultHorizon {
		t.Errorf("the horizon is %s days here, %s in package lambdas, and %v in package ingest",
			days, lambdas.HorizonDays.Default, ingest.DefaultHorizon)
	}
}

// TestThrottlingByAthenaIsCounted checks that the pattern of the metric matches the code of Athena's error, which the
// functions log with the error.
func TestThrottlingByAthenaIsCounted(t *testing.T) {
	code := (&types.TooManyRequestsException{}).ErrorCode()
	if want := `{ $.error = "*` + code + `*" }`; athenaThrottled.pattern != want {
		t.Errorf("the pattern is %s, want %s", athenaThrottled.pattern, want)
	}
}

// TestLogMetricsHaveFunctions checks that every metric of the logs is read from some function's log.
func TestLogMetricsHaveFunctions(t *testing.T) {
	for _, m := range allLogMetrics {
		if !slices.ContainsFunc(functions(), m.of) {
			t.Errorf("no function has the metric %s", m.name)
		}
	}
}

// TestDashboardShowsLogMetrics: every metric of the logs is on the dashboard.
func TestDashboardShowsLogMetrics(t *testing.T) {
	ops := deployed(t).ops
	dashboards := ops.of("AWS::CloudWatch::Dashboard")
	if len(dashboards) != 1 {
		t.Fatalf("%d dashboards", len(dashboards))
	}
	body := flat(ops.Resources[dashboards[0]].Properties["DashboardBody"])
	for _, m := range allLogMetrics {
		if !strings.Contains(body, `"`+m.in(defaults)+`"`) {
			t.Errorf("the dashboard lacks the metric %s", m.name)
		}
	}
}

// TestGlobalNamesHaveTheRegion: dashboards and budgets have one list for all regions of an account, so two deployments
// of the same name in two regions need different names for them.
func TestGlobalNamesHaveTheRegion(t *testing.T) {
	ops := deployed(t).ops
	for kind, path := range map[string]string{
		"AWS::CloudWatch::Dashboard": "DashboardName", "AWS::Budgets::Budget": "Budget.BudgetName",
	} {
		for _, id := range ops.of(kind) {
			if name := flat(ops.Resources[id].at(path)); name != "orrery-<Region>" {
				t.Errorf("%s has the name %s", id, name)
			}
		}
	}
}

// TestEveryFunctionIsMonitored: the dashboard shows the time, the errors and the throttling of every function, and each
// has alarms for both, whose runbooks name them.
func TestEveryFunctionIsMonitored(t *testing.T) {
	ops := deployed(t).ops
	body := flat(ops.Resources[ops.of("AWS::CloudWatch::Dashboard")[0]].Properties["DashboardBody"])
	text, err := os.ReadFile("../events/RUNBOOKS.md")
	if err != nil {
		t.Fatal(err)
	}
	alarms := map[string]resource{} // by name
	for _, id := range ops.of("AWS::CloudWatch::Alarm") {
		alarms[flat(ops.Resources[id].at("AlarmName"))] = ops.Resources[id]
	}
	for _, f := range functions() {
		name := functionName(defaults, f.Name)
		for _, metric := range []string{"Duration", "Errors", "Throttles"} {
			if !strings.Contains(body, fmt.Sprintf(`"AWS/Lambda","%s","FunctionName","%s"`, metric, name)) {
				t.Errorf("the dashboard lacks %s of %s", metric, f.Name)
			}
		}
		for kind, metric := range map[string]string{"errors": "Errors", "throttled": "Throttles"} {
			a, known := alarms[name+"-"+kind]
			if !known || a.at("MetricName") != metric || a.at("Dimensions.0.Value") != name {
				t.Errorf("no alarm is about %s of %s", metric, f.Name)
				continue
			}
			_, section, _ := strings.Cut(flat(a.at("AlarmDescription")), runbooks)
			_, runbook, _ := strings.Cut(string(text), "\n## "+section+"\n")
			runbook, _, _ = strings.Cut(runbook, "\n## ")
			if !strings.Contains(runbook, "`<function>-"+kind+"`") {
				t.Errorf("the runbook %q of %s-%s does not name the alarm", section, f.Name, kind)
			}
		}
	}
}

package main

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
)

// logTerms lists the retention periods of CloudWatch logs that a deployment can choose, by days.
var logTerms = map[int]awslogs.RetentionDays{
	1: awslogs.RetentionDays_ONE_DAY, 3: awslogs.RetentionDays_THREE_DAYS, 5: awslogs.RetentionDays_FIVE_DAYS,
	7: awslogs.RetentionDays_ONE_WEEK, 14: awslogs.RetentionDays_TWO_WEEKS, 30: awslogs.RetentionDays_ONE_MONTH,
	60: awslogs.RetentionDays_TWO_MONTHS, 90: awslogs.RetentionDays_THREE_MONTHS, 180: awslogs.RetentionDays_SIX_MONTHS,
	365: awslogs.RetentionDays_ONE_YEAR,
}

// keepLogs keeps the logs, which record who asked what, when their stack is deleted. scripts/cdk.sh lets a new stack
// import them.
const keepLogs = cdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE

// addFunction adds a function with its own log and its own role. The role allows the grants in the function's row and
// writing to the log.
func (a *apiStack) addFunction(p Props, data *dataStack, f function) awslambda.Function {
	id, name := f.Name, functionName(p, f.Name)
	logs := awslogs.NewLogGroup(a.stack, jsii.String(id+"-log"), &awslogs.LogGroupProps{
		LogGroupName:  jsii.String(logGroup(p, f)),
		Retention:     logTerms[p.LogDays],
		RemovalPolicy: keepLogs,
	})
	readMetrics(p, f, logs)
	policy := awsiam.NewPolicyDocument(nil)
	policy.AddStatements(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings("logs:CreateLogStream", "logs:PutLogEvents"),
		Resources: &[]*string{logs.LogGroupArn()},
	}))
	resources := a.resources(p, data)
	for _, g := range permissions.Of(f.Name) {
		if s := g.Statement(resources); len(s.Resources) > 0 { // else there are no such destinations
			policy.AddStatements(statementOf(s))
		}
	}
	role := awsiam.NewRole(a.stack, jsii.String(id+"-role"), &awsiam.RoleProps{
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"task": policy},
	})
	timeout := f.timeout.Seconds()
	if f.Name == ingestName {
		timeout = float64(p.IngestSeconds)
	}
	if f.Name == compactName {
		f.memory = float64(p.CompactMegabytes)
		f.scratch = min(scratchPerMerge*math.Ceil(f.memory/lambdas.CoreMemory), lambdas.MostMemory)
	}
	var scratch cdk.Size
	if f.scratch > 0 {
		scratch = cdk.Size_Mebibytes(&f.scratch)
	}
	lambda := awslambda.NewFunction(a.stack, &id, &awslambda.FunctionProps{
		FunctionName:                 &name,
		Description:                  jsii.String(f.Doc),
		Runtime:                      awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:                 architectures[p.Architecture](),
		Handler:                      jsii.String("bootstrap"),
		Code:                         awslambda.Code_FromAsset(jsii.String(p.zip(f)), nil),
		MemorySize:                   &f.memory,
		EphemeralStorageSize:         scratch,
		Timeout:                      seconds(timeout),
		LogGroup:                     logs,
		Role:                         role.WithoutPolicyUpdates(nil), // package permissions has what the CDK would add
		Environment:                  a.environment(p, data, f),
		ReservedConcurrentExecutions: reserved(p, f),
	})
	if f.behindGateway() {
		gateway := &cdk.ArnComponents{Service: jsii.String("execute-api"), Resource: jsii.String("*")}
		lambda.AddPermission(jsii.String("gateway"), &awslambda.Permission{
			Principal: awsiam.NewServicePrincipal(jsii.String("apigateway.amazonaws.com"), nil),
			SourceArn: a.stack.FormatArn(gateway),
		})
	}
	return lambda
}

// compactReserved is how many instances are reserved for compact.
const compactReserved = 2

// scratchPerMerge is the disk space in MB of a merge of compact: for the objects, what is merged of them first, and the
// result.
const scratchPerMerge = 2048

// environment returns the environment variables of a function.
func (a *apiStack) environment(p Props, data *dataStack, f function) *map[string]*string {
	values := map[lambdas.Variable]*string{
		lambdas.Table:          data.table.TableName(),
		lambdas.LakeBucket:     data.lake.BucketName(),
		lambdas.RawBucket:      data.raw.BucketName(),
		lambdas.RawQueue:       data.queue.QueueUrl(),
		lambdas.RawDeadLetters: data.deadLetters.QueueUrl(),
		lambdas.Results:        data.resultsURL(),
		lambdas.Database:       &data.database,
		lambdas.Workgroup:      jsii.String(data.workgroups[interactive]),
		lambdas.ProjectionFrom: jsii.String(strconv.Itoa(p.ProjectionFrom)),
		lambdas.HorizonDays:    jsii.String(strconv.Itoa(p.HorizonDays)),
		lambdas.ScanMegabytes:  jsii.String(strconv.Itoa(p.ScanMegabytes)),
		lambdas.PartFunction:   jsii.String(functionName(p, lambdas.Part)),
		lambdas.PartsAtOnce:    jsii.String(strconv.Itoa(p.PartsAtOnce)),
		lambdas.QueryTimeout:   jsii.String(lambdas.QueryTimeout.Default),
		lambdas.Version:        &p.Version,

		lambdas.ReportsWorkgroup: jsii.String(data.workgroups[reports]),
		lambdas.Reports:          jsii.String(cmp.Or(p.Reports, lambdas.Reports.Default)),
		lambdas.ReportQueue:      a.reportQueue.QueueUrl(),
		lambdas.ReportTimeout:    jsii.String(lambdas.ReportTimeout.Default),
	}
	variables := map[string]*string{}
	for _, v := range f.Variables {
		value, known := values[v]
		if !known {
			panic("infra: no value for variable " + v.Name + " of function " + f.Name)
		}
		variables[v.Name] = value
	}
	return &variables
}

// reserved returns the reserved concurrency of a function, or nil. A reservation keeps instances free for ingest and
// the functions of the schedules. The event source limits ingest without one, too.
func reserved(p Props, f function) *float64 {
	switch {
	case !p.ReserveConcurrency:
		return nil
	case f.Name == ingestName:
		return jsii.Number(float64(p.IngestConcurrency))
	case f.Name == compactName: // a second run finds the first one at work, and ends
		return jsii.Number(compactReserved)
	case f.Name == reconcileName:
		return jsii.Number(1)
	case f.Name == reportName:
		return jsii.Number(lambdas.ReportConcurrency)
	}
	return nil
}

// feed connects ingest to the queue. Each run gets one message: a message that shares a run with a large log would have
// to wait although other instances are free. Ingest reports whether the message failed.
func feed(ingest awslambda.Function, p Props, data *dataStack) {
	source := &awslambdaeventsources.SqsEventSourceProps{
		BatchSize:               jsii.Number(1),
		ReportBatchItemFailures: jsii.Bool(true),
		// A flood of raw logs must not take the instances that answer requests.
		MaxConcurrency: jsii.Number(float64(p.IngestConcurrency)),
	}
	ingest.AddEventSource(awslambdaeventsources.NewSqsEventSource(data.queue, source))
}

// schedule starts a function at fixed times.
func (a *apiStack) schedule(lambda awslambda.Function, p Props, f function, does string, at awsevents.Schedule) {
	id := idOf(f.Name)
	dead := newQueue(a.stack, id+"DeadLetters", p.Name+"-"+f.Name+"-dead-letters")
	target := awseventstargets.NewLambdaFunction(lambda, &awseventstargets.LambdaFunctionProps{
		DeadLetterQueue: dead, RetryAttempts: jsii.Number(0), // the next run is the retry
	})
	awsevents.NewRule(a.stack, jsii.String(id+"Schedule"), &awsevents.RuleProps{
		RuleName:    jsii.String(p.Name + "-" + f.Name),
		Description: &does,
		Schedule:    at,
		Targets:     &[]awsevents.IRuleTarget{target},
	})
	output(a.stack, id+"DeadLettersURL", dead.QueueUrl(), "Runs of "+f.Name+" that could not be started")
}

// idOf returns the logical ID of a name: ReportTick for report-tick.
func idOf(name string) string {
	var id strings.Builder
	for part := range strings.SplitSeq(name, "-") {
		id.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return id.String()
}

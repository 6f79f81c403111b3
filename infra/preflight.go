package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas/types"

	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/stack"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// check compares a deployment with the account and region that it goes to, in one respect.
type check func(context.Context, aws.Config, Props) finding

// checksOf has the checks of each command. scripts/cdk.sh runs predeploy before it deploys, and does not deploy if
// records would be hidden. It deploys even if limits are too low for the highest load.
var checksOf = map[string][]check{
	"preflight": {lambdaLimit, gatewayLimit, athenaLimit, firstYear},
	predeploy:   {firstYear},
}

// predeploy has the command line of cdk deploy.
const predeploy = "predeploy"

// preflight makes the checks. It prints each finding, and the remedy if the finding is a problem. It returns an error
// if there are problems.
func preflight(ctx context.Context, c aws.Config, p Props, checks []check, out io.Writer) error {
	problems := 0
	for _, check := range checks {
		f := check(ctx, c, p)
		state := "ok"
		if f.remedy != "" {
			state = "problem"
			problems++
		}
		_, err := fmt.Fprintf(out, "%-8s %s: %s\n", state, f.subject, f.text)
		if err == nil && f.remedy != "" {
			_, err = fmt.Fprintf(out, "         %s\n", f.remedy)
		}
		if err != nil {
			return err
		}
	}
	if problems > 0 {
		return fmt.Errorf("%d of %d checks found a problem", problems, len(checks))
	}
	return nil
}

// finding is the result of one check. It has a remedy if it is a problem.
type finding struct {
	subject, text, remedy string
}

// unknown is the finding about a limit that could not be read.
func unknown(service string, err error, permission string) finding {
	return unreadable(service, "the limit is unknown", err, permission)
}

func unreadable(subject, what string, err error, permission string) finding {
	return finding{
		subject, fmt.Sprintf("%s: %v", what, err),
		"Allow " + permission + " to the credentials that are used, and check AWS_REGION.",
	}
}

// unreservedMinimum is the concurrency that Lambda keeps for functions without a reservation. New accounts may have a
// limit of 10 in all, so that they cannot reserve anything. See
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html.
const unreservedMinimum = 100

// lambdaLimit checks that the reservations are possible, or, without them, that ingest leaves instances to requests.
func lambdaLimit(ctx context.Context, c aws.Config, p Props) finding {
	const service = "Lambda"
	settings, err := lambda.NewFromConfig(c).GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err == nil && settings.AccountLimit == nil {
		err = errors.New("the answer has no limits")
	}
	if err != nil {
		return unknown(service, err, "lambda:GetAccountSettings")
	}
	limit := int(settings.AccountLimit.ConcurrentExecutions)
	writing := p.IngestConcurrency + 2 + lambdas.ReportConcurrency // compact and reconcile
	f := finding{subject: service, text: fmt.Sprintf(
		"%d functions may run at once; ingest, compact, reconcile and report take up to %d, which leaves %d for requests",
		limit, writing, max(limit-writing, 0),
	)}
	more := "Request a higher quota: aws service-quotas request-service-quota-increase --service-code lambda " +
		"--quota-code L-B99A9384 --desired-value 1000"
	reserved := writing + compactReserved - 1
	switch {
	case p.ReserveConcurrency && limit-reserved < unreservedMinimum:
		f.remedy = fmt.Sprintf("%d cannot be reserved: Lambda keeps %d without reservation. Leave out "+
			"-c reserve-concurrency=true, or: %s", reserved, unreservedMinimum, more)
	case limit <= writing:
		f.remedy = "Deploy with a lower -c ingest-concurrency, or: " + more
	case p.PartsAtOnce > (limit-writing)/2:
		f.text += fmt.Sprintf("; the parts of a large question may take %d", p.PartsAtOnce)
		f.remedy = "Deploy with -c parts-at-once=0, so that Athena answers large questions, or: " + more
	}
	return f
}

// gatewayLimit checks that the account lets as many requests through as the stage.
func gatewayLimit(ctx context.Context, c aws.Config, p Props) finding {
	const service = "API Gateway"
	account, err := apigateway.NewFromConfig(c).GetAccount(ctx, &apigateway.GetAccountInput{})
	if err == nil && account.ThrottleSettings == nil {
		err = errors.New("the answer has no limits")
	}
	if err != nil {
		return unknown(service, err, "apigateway:GET on /account")
	}
	rate, burst := account.ThrottleSettings.RateLimit, account.ThrottleSettings.BurstLimit
	f := finding{subject: service, text: fmt.Sprintf(
		"%.0f requests a second and %d at once are let through; the deployment asks for %d and %d",
		rate, burst, p.RequestsPerSecond, p.Burst,
	)}
	if rate < float64(p.RequestsPerSecond) || int(burst) < p.Burst {
		f.remedy = "Deploy with a lower -c requests-per-second and -c burst, or request a higher throttle rate of " +
			"API Gateway in the console of Service Quotas."
	}
	return f
}

// secondsPerQuery is an estimate of the time that Athena takes for a query.
const secondsPerQuery = 2

// athenaLimit checks that Athena runs as many queries at once as data routes may start.
func athenaLimit(ctx context.Context, c aws.Config, p Props) finding {
	const service = "Athena"
	limit, err := activeQueries(ctx, servicequotas.NewFromConfig(c))
	if err != nil {
		return unknown(service, err, "servicequotas:ListServiceQuotas and servicequotas:ListAWSDefaultServiceQuotas")
	}
	expected := p.RequestsPerSecond / 2 * secondsPerQuery // a data route gets half of the requests
	f := finding{subject: service, text: fmt.Sprintf(
		"%d queries may be active at once; %d are expected at full load", limit, expected,
	)}
	if limit < expected {
		f.remedy = "More are refused, and the API answers 503. Request a higher quota of Active DML queries of " +
			"Athena in the console of Service Quotas, or deploy with a lower -c requests-per-second."
	}
	return f
}

// activeQueries returns the account's quota of active DML queries, or the default of AWS if the account has none of
// its own.
func activeQueries(ctx context.Context, c *servicequotas.Client) (int, error) {
	const name = "Active DML queries"
	find := func(quotas []types.ServiceQuota) (int, bool) {
		for _, q := range quotas {
			if strings.EqualFold(aws.ToString(q.QuotaName), name) {
				return int(aws.ToFloat64(q.Value)), true
			}
		}
		return 0, false
	}
	service := aws.String("athena")
	ownInput := &servicequotas.ListServiceQuotasInput{ServiceCode: service}
	own := servicequotas.NewListServiceQuotasPaginator(c, ownInput)
	for own.HasMorePages() {
		page, err := own.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		if limit, found := find(page.Quotas); found {
			return limit, nil
		}
	}
	defaultInput := &servicequotas.ListAWSDefaultServiceQuotasInput{ServiceCode: service}
	defaults := servicequotas.NewListAWSDefaultServiceQuotasPaginator(c, defaultInput)
	for defaults.HasMorePages() {
		page, err := defaults.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		if limit, found := find(page.Quotas); found {
			return limit, nil
		}
	}
	return 0, fmt.Errorf("no quota %q of Athena is listed", name)
}

// firstYear checks that the tables will have partitions for all stored records. Athena would leave out earlier ones.
func firstYear(ctx context.Context, c aws.Config, p Props) finding {
	const subject = "Lake"
	data := stackName(p.Name, dataStackName)
	outputs, err := stack.Outputs(ctx, c, data)
	if errors.Is(err, stack.ErrNotFound) || err == nil && outputs[tableOutput] == "" { // "": the first attempt failed
		return finding{subject: subject, text: fmt.Sprintf("there is no deployment %s yet, and no records", p.Name)}
	}
	var state lakestate.State
	if err == nil {
		state, _, err = lakestate.Load(
			ctx, lakestate.Over(tabledynamo.New(tabledynamo.NewClient(c), outputs[tableOutput])),
		)
	}
	if err != nil {
		return unreadable(subject, "the oldest record is unknown", err, "cloudformation:DescribeStacks on the stack "+
			data+" and dynamodb:GetItem on its table")
	}
	if state.Extent.Rows == 0 {
		return finding{subject: subject, text: fmt.Sprintf("the deployment %s has no records", p.Name)}
	}
	oldest := time.UnixMilli(state.Extent.MinTsMs).UTC()
	f := finding{subject: subject, text: fmt.Sprintf("the records begin at %s UTC, the tables with the year %d",
		oldest.Format(time.DateTime), p.ProjectionFrom)}
	if oldest.Year() < p.ProjectionFrom {
		f.remedy = fmt.Sprintf("Queries of earlier times would fail. Deploy with -c projection-from=%d. If the time of "+
			"that record is wrong, remove its object from the lake bucket, and wait for the next compaction.",
			oldest.Year())
	}
	return f
}

// runPreflight makes the checks of a command.
func runPreflight(ctx context.Context, command string, arguments []string, out io.Writer) error {
	checks, known := checksOf[command]
	if !known {
		return fmt.Errorf("unknown command %q", command)
	}
	if command == predeploy {
		var err error
		if arguments, err = ofDeploy(arguments); err != nil {
			return err
		}
	}
	given, err := readArguments(arguments, "cdk.json")
	if err != nil {
		return err
	}
	p, err := readProps(func(name string) any { return given.properties[name] })
	if err != nil {
		return err
	}
	c, err := config.LoadDefaultConfig(ctx,
		config.WithSharedConfigProfile(given.profile), config.WithRegion(given.region),
		config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
			o.TokenProvider = stscreds.StdinTokenProvider // of a profile with mfa_serial, as the CDK asks
		}))
	if err != nil {
		return fmt.Errorf("read the configuration of AWS: %w", err)
	}
	if c.Region == "" {
		return errors.New("no region is set: AWS_REGION names it, such as eu-central-1")
	}
	return preflight(ctx, c, p, checks, out)
}

// ofDeploy returns the arguments of cdk deploy that preflight has, too.
func ofDeploy(arguments []string) (known []string, err error) {
	for i := 0; i < len(arguments); i++ {
		name, _, joined := strings.Cut(arguments[i], "=")
		switch name {
		case "-a", "--app":
			return nil, errors.New("the properties of templates that were made before are unknown")
		case "-c", "--context", "--profile", "--region":
			known = append(known, arguments[i])
			if !joined && i+1 < len(arguments) {
				i++
				known = append(known, arguments[i])
			}
		default:
			if len(name) > 2 && name[0] == '-' && name[1] != '-' && strings.ContainsAny(name, "ac") {
				return nil, fmt.Errorf("write the options in %s apart, such as -v -c NAME=VALUE", name)
			}
		}
	}
	return known, nil
}

// given is the description of a deployment in a command line.
type given struct {
	properties      map[string]any
	profile, region string // of AWS; "" for the defaults
}

// readArguments reads a command line: properties, -c NAME=VALUE, which override the file of the CDK, and the profile
// and the region of AWS. A missing file sets no properties.
func readArguments(arguments []string, file string) (g given, err error) {
	var project struct {
		Context map[string]any `json:"context"`
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &project)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return g, fmt.Errorf("read %s: %w", file, err)
	}
	g.properties = map[string]any{}
	maps.Copy(g.properties, project.Context)
	flags := flag.NewFlagSet("preflight", flag.ContinueOnError)
	set := func(text string) error {
		name, value, found := strings.Cut(text, "=")
		if !found {
			return errors.New("a property is NAME=VALUE")
		}
		g.properties[name] = value
		return nil
	}
	flags.Func("c", "a property, `NAME=VALUE`", set)
	flags.Func("context", "a property, `NAME=VALUE`", set)
	flags.StringVar(&g.profile, "profile", "", "`NAME` of a profile of AWS")
	flags.StringVar(&g.region, "region", "", "`NAME` of a region of AWS")
	if err := flags.Parse(arguments); err != nil {
		return g, err
	}
	if flags.NArg() > 0 {
		return g, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return g, nil
}

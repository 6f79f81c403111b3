package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/awscall"
	"github.com/orrery/orrery/shared/ingest/cloud/arrivals"
	"github.com/orrery/orrery/shared/lambdas"
)

type reconcileCommand struct {
	Stack  string        `help:"Name of a deployment on AWS. The variables of the AWS SDK apply." placeholder:"NAME"`
	Limit  int           `help:"Maximum number of lost logs to send again; default: 1000." placeholder:"N"`
	MinAge time.Duration `default:"6h" help:"Age from which a log that has not arrived counts as lost." placeholder:"DURATION"`
}

// Run invokes the function reconcile of a deployment and prints its report. The function has the permissions and the
// deadline that scheduled runs have.
func (r *reconcileCommand) Run(ctx context.Context, c terminal.Console) error {
	switch {
	case r.Stack == "":
		return exit.With(exit.Usage, "only a deployment in AWS can lose logs: name it with --stack NAME; "+
			"for a data folder, import the files again, which imports nothing twice")
	case r.Limit < 0 || r.MinAge < 0:
		return exit.With(exit.Usage, "--limit and --min-age must not be negative")
	}
	event, err := json.Marshal(map[string]any{"limit": r.Limit, "min_age": r.MinAge.String()})
	if err != nil {
		return err
	}
	cfg, err := invocations(ctx)
	if err != nil {
		return err
	}
	name := r.Stack + "-reconcile"
	answer, failed, err := awscall.Invoke(ctx, cfg, name, event)
	var refused smithy.APIError
	switch {
	case errors.As(err, &refused) && refused.ErrorCode() == "ResourceNotFoundException":
		return fmt.Errorf("there is no function %s in this account and region; --stack must be the property name of "+
			"the deployment, orrery by default", name)
	case err != nil:
		return fmt.Errorf("invoke %s: %w", name, err)
	case failed:
		return fmt.Errorf("the function %s failed: %s", name, answer)
	}
	var report arrivals.Report
	if err := json.Unmarshal(answer, &report); err != nil {
		return fmt.Errorf("read the report of %s: %w", name, err)
	}
	return printReconciled(c, report)
}

// invocations returns a configuration with which a request waits as long as a function can run. It is not repeated,
// because each request starts a run.
func invocations(ctx context.Context) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return cfg, fmt.Errorf("read the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		const message = "the region of the deployment is unknown: set AWS_REGION, or AWS_PROFILE to a profile with one"
		return cfg, errors.New(message)
	}
	cfg.HTTPClient = awshttp.NewBuildableClient().WithTimeout(lambdas.LongestRun + time.Minute)
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	return cfg, nil
}

func printReconciled(c terminal.Console, r arrivals.Report) error {
	_, err := fmt.Fprintf(c.Out, "compared %s in %.1f s: %d arrived, %d may be on their way\n"+
		"sent %s again\n",
		terminal.Counted(r.Listed, "log"), r.Elapsed.Seconds(), r.Arrived, r.Recent,
		terminal.Counted(r.Lost, "lost log"))
	if err == nil && r.Earlier+r.EarlierSent > 0 {
		_, err = fmt.Fprintf(c.Out, "sent %s again that an earlier version may have imported; "+
			"of those sent before, %d did not arrive\n", terminal.Counted(r.Earlier, "log"), r.EarlierSent)
	}
	if err == nil && r.Left > 0 {
		_, err = fmt.Fprintf(c.Out, "left %s for the next run, because of the limit\n", terminal.Counted(r.Left, "log"))
	}
	if err == nil && r.Unfinished {
		_, err = fmt.Fprintln(c.Out, "the time was up before all logs were compared; the next run continues")
	}
	return err
}

package searching

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/orrery/orrery/functions/internal/counting"
	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/lakestate/hybrid"
	"github.com/orrery/orrery/shared/lakestate/parts"
	"github.com/orrery/orrery/shared/lambdas"
)

// Invoker invokes a function with an event. failed says that the function has answered with an error.
type Invoker func(ctx context.Context, function string, event []byte) (answer []byte, failed bool, _ error)

// crew has instances of a function do jobs.
type crew struct {
	invoke   Invoker
	function string
}

// Do does a job in an instance of the function.
func (c crew) Do(ctx context.Context, job parts.Job) (done parts.Done, _ error) {
	payload, err := json.Marshal(job)
	if err != nil {
		return done, fmt.Errorf("write a job: %w", err)
	}
	answer, failed, err := c.invoke(ctx, c.function, payload)
	if err != nil {
		return done, fmt.Errorf("invoke %s: %w", c.function, err)
	}
	if failed {
		return done, fmt.Errorf("%s failed: %s", c.function, messageOf(answer))
	}
	if err := json.Unmarshal(answer, &done); err != nil {
		return done, fmt.Errorf("read what %s has done: %w", c.function, err)
	}
	return done, nil
}

// messageOf returns the message of an error of a function.
func messageOf(payload []byte) string {
	var failed struct{ ErrorMessage string }
	if err := json.Unmarshal(payload, &failed); err != nil || failed.ErrorMessage == "" {
		return "no message"
	}
	return failed.ErrorMessage
}

// partsOf returns how a function has parts counted; nil: it has none counted.
func partsOf(c aws.Config, invoke Invoker, e function.Environment) *hybrid.Parts {
	if e.PartsAtOnce == 0 {
		return nil
	}
	bucket, prefix := e.ResultsFolder()
	return &hybrid.Parts{
		Crew:    crew{invoke, e.PartFunction},
		Results: s3.New(function.NewS3(c, counting.KeepConnections), bucket),
		Prefix:  prefix + parts.Folder, Version: e.Version, AtOnce: e.PartsAtOnce, GB: lambdas.PartMemory / 1024.0,
	}
}

// checkCrew checks that a function may invoke the one that counts parts, and that this one has what it needs.
func checkCrew(invoke Invoker, e function.Environment) doctor.Check {
	return doctor.Check{
		Name: "parts of questions",
		Remedy: "Athena answers large questions instead, more slowly and at a higher price; the role must allow " +
			"lambda:InvokeFunction on the function part of this deployment, whose own checks must succeed",
		Run: func(ctx context.Context) (string, error) {
			if e.PartsAtOnce == 0 {
				return "Athena answers all large questions", nil
			}
			answer, failed, err := invoke(ctx, e.PartFunction, []byte(`{"doctor":true}`))
			if err != nil {
				return "", fmt.Errorf("invoke %s: %w", e.PartFunction, err)
			}
			var report doctor.Report
			if err := json.Unmarshal(answer, &report); err != nil || failed || !report.OK {
				return "", fmt.Errorf("%s is not ready: %s", e.PartFunction, answer)
			}
			return fmt.Sprintf("the function can invoke %s, up to %d times at once for a question",
				e.PartFunction, e.PartsAtOnce), nil
		},
	}
}

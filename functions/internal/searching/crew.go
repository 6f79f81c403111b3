package searching

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/orrery/orrery/functions/internal/counting"
	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/lakestate/hybrid"
	"github.com/orrery/orrery/shared/lakestate/parts"
	"github.com/orrery/orrery/shared/lambdas"
)

// Invoker is the part of the client of Lambda by which other functions count parts of questions.
type Invoker interface {
	Invoke(ctx context.Context, in *lambda.InvokeInput, options ...func(*lambda.Options)) (*lambda.InvokeOutput, error)
}

// crew has instances of a function do jobs.
type crew struct {
	client   Invoker
	function string
}

// Do does a job in an instance of the function.
func (c crew) Do(ctx context.Context, job parts.Job) (done parts.Done, _ error) {
	payload, err := json.Marshal(job)
	if err != nil {
		return done, fmt.Errorf("write a job: %w", err)
	}
	answer, err := c.client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &c.function, Payload: payload})
	if err != nil {
		return done, fmt.Errorf("invoke %s: %w", c.function, err)
	}
	if answer.FunctionError != nil {
		return done, fmt.Errorf("%s failed: %s", c.function, messageOf(answer.Payload))
	}
	if err := json.Unmarshal(answer.Payload, &done); err != nil {
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
func partsOf(c aws.Config, client Invoker, e function.Environment) *hybrid.Parts {
	if e.PartsAtOnce == 0 {
		return nil
	}
	bucket, prefix := e.ResultsFolder()
	return &hybrid.Parts{
		Crew:    crew{client, e.PartFunction},
		Results: s3.New(function.NewS3(c, counting.KeepConnections), bucket),
		Prefix:  prefix + parts.Folder, Version: e.Version, AtOnce: e.PartsAtOnce, GB: lambdas.PartMemory / 1024.0,
	}
}

// checkCrew checks that a function may invoke the one that counts parts.
func checkCrew(client Invoker, e function.Environment) doctor.Check {
	return doctor.Check{
		Name: "parts of questions",
		Remedy: "Athena answers large questions instead, more slowly and at a higher price; the role must allow " +
			"lambda:InvokeFunction on the function part of this deployment",
		Run: func(ctx context.Context) (string, error) {
			if e.PartsAtOnce == 0 {
				return "Athena answers all large questions", nil
			}
			_, err := client.Invoke(ctx, &lambda.InvokeInput{
				FunctionName: &e.PartFunction, InvocationType: types.InvocationTypeDryRun,
			})
			if err != nil {
				return "", fmt.Errorf("invoke %s: %w", e.PartFunction, err)
			}
			return fmt.Sprintf("the function may invoke %s, up to %d times at once for a question", e.PartFunction, e.PartsAtOnce), nil
		},
	}
}

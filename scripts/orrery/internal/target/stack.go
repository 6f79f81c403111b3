package target

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/orrery/orrery/shared/stack"
)

// The stack of a deployment with the gateway, and the output of it that has the URL of the API.
const (
	apiStack  = "-api"
	urlOutput = "URL"
)

// URLOfStack returns the URL of the API of a deployment on AWS.
func URLOfStack(ctx context.Context, name string) (string, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return "", fmt.Errorf("read the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		const message = "the region of the deployment is unknown: set AWS_REGION, or AWS_PROFILE to a profile with one"
		return "", errors.New(message)
	}
	api := name + apiStack
	outputs, err := stack.Outputs(ctx, cfg, api)
	if errors.Is(err, stack.ErrNotFound) {
		return "", fmt.Errorf("there is no stack %s in %s; --stack must be the property name of the deployment, "+
			"orrery by default", api, cfg.Region)
	}
	if err != nil {
		return "", fmt.Errorf("read the outputs of the stack %s: %w", api, err)
	}
	if outputs[urlOutput] == "" {
		return "", fmt.Errorf("the stack %s has no output %s; deploy it again", api, urlOutput)
	}
	return outputs[urlOutput], nil
}

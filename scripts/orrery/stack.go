package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"
)

// The stack of a deployment with the gateway, and the output of it that has the URL of the API.
const (
	apiStack  = "-api"
	urlOutput = "URL"
)

// urlOfStack returns the URL of the API of a deployment on AWS.
func urlOfStack(ctx context.Context, name string) (string, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return "", fmt.Errorf("read the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		const message = "the region of the deployment is unknown: set AWS_REGION, or AWS_PROFILE to a profile with one"
		return "", errors.New(message)
	}
	stack := name + apiStack
	answer, err := cloudformation.NewFromConfig(cfg).DescribeStacks(ctx,
		&cloudformation.DescribeStacksInput{StackName: &stack})
	var refused smithy.APIError
	if errors.As(err, &refused) && refused.ErrorCode() == "ValidationError" &&
		strings.Contains(refused.ErrorMessage(), "does not exist") {
		return "", fmt.Errorf("there is no stack %s in %s; --stack must be the property name of the deployment, "+
			"orrery by default", stack, cfg.Region)
	}
	if err != nil {
		return "", fmt.Errorf("read the outputs of the stack %s: %w", stack, err)
	}
	for _, s := range answer.Stacks {
		for _, o := range s.Outputs {
			if aws.ToString(o.OutputKey) == urlOutput {
				return aws.ToString(o.OutputValue), nil
			}
		}
	}
	return "", fmt.Errorf("the stack %s has no output %s; deploy it again", stack, urlOutput)
}

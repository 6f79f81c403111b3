// Package stack reads the outputs of the CloudFormation stacks of a deployment.
package stack

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"
)

// ErrNotFound means that the account has no stack of that name in the region.
var ErrNotFound = errors.New("there is no such stack")

// Outputs returns the outputs of a stack by their names. There are none until a first deployment has succeeded.
func Outputs(ctx context.Context, c aws.Config, name string) (map[string]string, error) {
	answer, err := cloudformation.NewFromConfig(c).DescribeStacks(ctx, &cloudformation.DescribeStacksInput{
		StackName: &name,
	})
	var refused smithy.APIError
	if errors.As(err, &refused) && refused.ErrorCode() == "ValidationError" &&
		strings.Contains(refused.ErrorMessage(), "does not exist") {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	outputs := map[string]string{}
	for _, s := range answer.Stacks {
		for _, o := range s.Outputs {
			outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
		}
	}
	return outputs, nil
}

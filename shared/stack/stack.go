// Package stack reads the outputs of the CloudFormation stacks of a deployment.
package stack

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"github.com/orrery/orrery/shared/awscall"
)

// ErrNotFound means that the account has no stack of that name in the region.
var ErrNotFound = errors.New("there is no such stack")

// Outputs returns the outputs of a stack by their names. There are none until a first deployment has succeeded.
func Outputs(ctx context.Context, c aws.Config, name string) (map[string]string, error) {
	var answer struct {
		Outputs []struct {
			Key   string `xml:"OutputKey"`
			Value string `xml:"OutputValue"`
		} `xml:"DescribeStacksResult>Stacks>member>Outputs>member"`
	}
	parameters := url.Values{"StackName": {name}}
	err := awscall.Query(ctx, c, awscall.CloudFormation, "DescribeStacks", parameters, &answer)
	var refused smithy.APIError
	if errors.As(err, &refused) && refused.ErrorCode() == "ValidationError" &&
		strings.Contains(refused.ErrorMessage(), "does not exist") {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	outputs := map[string]string{}
	for _, o := range answer.Outputs {
		outputs[o.Key] = o.Value
	}
	return outputs, nil
}

package main

import (
	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// The rules of cdk-nag (AwsSolutions) that do not hold here, each with the reason. A test runs all the others.

func (d *dataStack) suppress() {
	excuse(d.stack, "AwsSolutions-S1", "Who may read is set by role, Athena keeps its own history of queries, and access logs would add an object for every read of every query. Turn on CloudTrail data events to audit reads.")
}

func (a *apiStack) suppress() {
	excuse(a.stack, "AwsSolutions-IAM5", "Wildcards stand only after a bucket, a folder of it, a key prefix or a log group: streams and objects have no names before they are made. testdata/permissions.txt lists them all.")
	excuse(a.stack, "AwsSolutions-IAM4", "The one managed policy is the one AWS prescribes for gateway logs (AmazonAPIGatewayPushToCloudWatchLogs).")
	excuse(a.stack, "AwsSolutions-APIG2", "The functions validate requests, and tell all mistakes at once with their places; the gateway would tell less.")
	excuse(a.stack, "AwsSolutions-APIG3", "A web ACL is an account's own choice and cost; attach one to the stage where it is wanted.")
	excuse(a.stack, "AwsSolutions-APIG4", "API keys are checked by the functions, the same code on every deployment.")
	excuse(a.stack, "AwsSolutions-APIG6", "Execution logs would hold filters, headers and keys; the access log and the functions' own logs do not.")
	excuse(a.stack, "AwsSolutions-SQS3", "The queue is itself the dead-letter queue of a schedule, which cdk-nag does not follow.")
	excuse(a.stack, "AwsSolutions-COG4", "API keys are checked by the functions, the same code on every deployment.")
}

// excuse tells why a rule does not hold for a stack.
func excuse(stack cdk.Stack, rule, reason string) {
	cdknag.NagSuppressions_AddStackSuppressions(stack, &[]*cdknag.NagPackSuppression{{Id: &rule, Reason: &reason}}, nil)
}

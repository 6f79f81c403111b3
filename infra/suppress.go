package main

import (
	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// The rules of cdk-nag (AwsSolutions) that do not apply here, each with the reason. A test checks all the others.

func (d *dataStack) suppress() {
	excuse(d.stack, "AwsSolutions-S1", "Roles control who may read, Athena keeps its own history of queries, and "+
		"access logs would add an object for every read of every query. Turn on CloudTrail data events to audit reads.")
}

func (a *apiStack) suppress() {
	excuse(a.stack, "AwsSolutions-IAM5", "Wildcards only follow a bucket, a folder, a key prefix or a log group, "+
		"because the names of streams and objects are not known in advance, and the identities and configuration sets of "+
		"SES, where conditions restrict the sender and the receivers. testdata/permissions.txt lists them all.")
	excuse(a.stack, "AwsSolutions-IAM4", "The only managed policy is the one that AWS prescribes for gateway logs "+
		"(AmazonAPIGatewayPushToCloudWatchLogs).")
	excuse(a.stack, "AwsSolutions-APIG2", "The functions validate requests and report all mistakes at once with their "+
		"positions. The gateway would report less.")
	excuse(a.stack, "AwsSolutions-APIG3", "A web ACL costs extra. An account that wants one attaches it to the stage.")
	excuse(a.stack, "AwsSolutions-APIG4", "The functions check API keys, with the same code on every deployment.")
	excuse(a.stack, "AwsSolutions-APIG6", "Execution logs would contain filters, headers and keys. The access log and "+
		"the functions' own logs do not.")
	excuse(a.stack, "AwsSolutions-SQS3", "The queue is itself the dead-letter queue of a schedule, which cdk-nag "+
		"does not recognize.")
	excuse(a.stack, "AwsSolutions-COG4", "The functions check API keys, with the same code on every deployment.")
}

// excuse suppresses a rule for a stack and records the reason.
func excuse(stack cdk.Stack, rule, reason string) {
	cdknag.NagSuppressions_AddStackSuppressions(stack, &[]*cdknag.NagPackSuppression{{Id: &rule, Reason: &reason}}, nil)
}

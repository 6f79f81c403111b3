package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/orrery/orrery/shared/lambdas/permissions"
)

// statement returns a grant of package permissions as a statement of a policy.
func (d *dataStack) statement(g permissions.Grant) awsiam.PolicyStatement {
	s := g.Statement(d.resources())
	var conditions *map[string]any
	if c := s.Condition; c.Operator != "" {
		conditions = &map[string]any{string(c.Operator): map[string]any{c.Key: c.Patterns}}
	}
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings(s.Actions...), Resources: jsii.Strings(s.Resources...), Conditions: conditions,
	})
}

// resources returns the ARNs of the stack's resources. They are tokens of the CDK.
func (d *dataStack) resources() permissions.Resources {
	catalog := []string{*d.arn("glue", "catalog"), *d.arn("glue", "database/"+d.database)}
	for _, name := range d.tables {
		catalog = append(catalog, *d.arn("glue", "table/"+d.database+"/"+name))
	}
	return permissions.Resources{
		Table:           *d.table.TableArn(),
		RawBucket:       *d.raw.BucketArn(),
		LakeBucket:      *d.lake.BucketArn(),
		ResultBucket:    *d.results.BucketArn(),
		Workgroup:       *d.arn("athena", "workgroup/"+d.workgroups[interactive]),
		DataCatalog:     *d.arn("athena", "datacatalog/AwsDataCatalog"),
		DefaultDatabase: *d.arn("glue", "database/default"),
		RawQueue:        *d.queue.QueueArn(),
		RawDeadLetters:  *d.deadLetters.QueueArn(),
		Catalog:         catalog,
	}
}

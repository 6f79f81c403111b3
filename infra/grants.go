package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
)

// statementOf converts a statement of package permissions to a statement of a policy.
func statementOf(s permissions.Statement) awsiam.PolicyStatement {
	var conditions *map[string]any
	if len(s.Conditions) > 0 {
		conditions = &map[string]any{}
	}
	for _, c := range s.Conditions {
		(*conditions)[string(c.Operator)] = map[string]any{c.Key: c.Patterns}
	}
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings(s.Actions...), Resources: jsii.Strings(s.Resources...), Conditions: conditions,
	})
}

// resources returns the ARNs of the resources of a deployment and of the destinations of reports.
func (a *apiStack) resources(p Props, data *dataStack) permissions.Resources {
	r := data.resources()
	r.ReportQueue = *a.reportQueue.QueueArn()
	r.PartFunction = *data.arn("lambda", "function:"+functionName(p, lambdas.Part))
	arn := func(service, resource string) string { return *data.arn(service, resource) }
	return r.Reaching(p.destinations().Needs(), *a.stack.Partition(), arn)
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

		ReportsWorkgroup: *d.arn("athena", "workgroup/"+d.workgroups[reports]),
	}
}

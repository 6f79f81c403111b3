package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// grant is one thing a function may do: actions on some part of what the data stack holds.
type grant struct {
	on   place
	of   []string // which items or objects of that place; * stands for any text
	acts []string
}

// place is a part of the data stack. What of means differs.
type place string

const (
	items         place = "items"          // of the DynamoDB table: patterns of pk
	rawObjects    place = "raw objects"    // patterns of keys
	lakeObjects   place = "lake objects"   // patterns of keys
	resultObjects place = "result objects" // patterns of keys
	rawListing    place = "raw listing"    // patterns of prefixes
	lakeListing   place = "lake listing"   // patterns of prefixes
	resultListing place = "result listing" // patterns of prefixes
	resultBucket  place = "result bucket"
	lakeBucket    place = "lake bucket"
	workgroup     place = "interactive workgroup"
	catalogue     place = "Glue tables"
	dataCatalog   place = "Athena's view of Glue"
	rawQueue      place = "raw queue"
)

// What functions may do, by task. A test holds the deployed policies to exactly this.
var (
	keys = []grant{
		{items, []string{"keys"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
	}

	planetRead = []grant{
		{items, []string{"planet#*"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
	}
	planetWrite = []grant{ // a transaction needs what it is made of
		{items, []string{"planet#*"}, []string{"dynamodb:PutItem"}},
	}

	// queries is what a function needs that asks Athena, which reads and writes S3 and Glue in its caller's name.
	queries = and(keys, []grant{
		{items, []string{"join#*", "query#*"}, []string{"dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"}},
		{items, []string{"query#*"}, []string{"dynamodb:Query"}}, // a query's request may take several items
		{items, []string{"lake"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
		{workgroup, nil, []string{"athena:GetQueryExecution", "athena:GetQueryResults", "athena:GetWorkGroup", "athena:StartQueryExecution", "athena:StopQueryExecution"}},
		{dataCatalog, nil, []string{"athena:GetTableMetadata"}},
		{catalogue, nil, []string{"glue:GetDatabase", "glue:GetPartitions", "glue:GetTable"}},
		{lakeObjects, []string{"lake/*"}, []string{"s3:GetObject"}},
		{lakeListing, []string{"lake/*"}, []string{"s3:ListBucket"}},
		{lakeBucket, nil, []string{"s3:GetBucketLocation"}},
		{resultObjects, []string{"results/*"}, []string{"s3:AbortMultipartUpload", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject"}},
		{resultListing, []string{"results/*"}, []string{"s3:ListBucket", "s3:ListBucketMultipartUploads"}},
		{resultBucket, nil, []string{"s3:GetBucketLocation"}},
	})

	ingesting = []grant{
		{rawQueue, nil, []string{"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}},
		{rawObjects, []string{"raw/*"}, []string{"s3:GetObject", "s3:GetObjectVersion"}},
		{rawListing, []string{"raw/*"}, []string{"s3:ListBucket"}}, // without it a missing object reads as forbidden
		{lakeObjects, []string{"lake/*", "quarantine/*"}, []string{"s3:GetObject", "s3:PutObject"}},
		{lakeObjects, []string{"lake/_staging/*"}, []string{"s3:DeleteObject"}},
		{lakeListing, []string{"lake/*", "quarantine/*"}, []string{"s3:ListBucket"}},
		{items, []string{"ingest#*", "lake"}, []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}},
	}

	compacting = []grant{
		{lakeObjects, []string{"lake/*"}, []string{"s3:DeleteObject", "s3:GetObject", "s3:PutObject"}},
		{lakeObjects, []string{"quarantine/*"}, []string{"s3:GetObject", "s3:PutObject"}}, // it finishes imports that were cut short
		{lakeListing, []string{"lake/*", "quarantine/*"}, []string{"s3:ListBucket"}},
		{items, []string{"ingest#*", "lake"}, []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}},
	}
)

// and joins grants.
func and(grants ...[]grant) []grant { return slices.Concat(grants...) }

// statement is a grant in the words of IAM.
func (d *dataStack) statement(g grant) awsiam.PolicyStatement {
	resources, conditions := d.resources(g)
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings(g.acts...), Resources: &resources, Conditions: conditions,
	})
}

// resources is where a grant holds, and under which conditions.
func (d *dataStack) resources(g grant) ([]*string, *map[string]any) {
	// IfExists: S3 asks for the same permission, without a prefix, before it says that an object is not there.
	prefixes := &map[string]any{"StringLikeIfExists": map[string]any{"s3:prefix": g.of}}
	switch g.on {
	case items:
		return []*string{d.table.TableArn()}, &map[string]any{"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": g.of}}
	case rawObjects:
		return objectsOf(d.raw, g.of), nil
	case lakeObjects:
		return objectsOf(d.lake, g.of), nil
	case resultObjects:
		return objectsOf(d.results, g.of), nil
	case rawListing:
		return []*string{d.raw.BucketArn()}, prefixes
	case lakeListing:
		return []*string{d.lake.BucketArn()}, prefixes
	case resultListing:
		return []*string{d.results.BucketArn()}, prefixes
	case resultBucket:
		return []*string{d.results.BucketArn()}, nil
	case lakeBucket:
		return []*string{d.lake.BucketArn()}, nil
	case workgroup:
		return []*string{d.arn("athena", "workgroup/"+d.workgroups[interactive])}, nil
	case catalogue:
		arns := []*string{d.arn("glue", "catalog"), d.arn("glue", "database/"+d.database)}
		for _, name := range d.tables {
			arns = append(arns, d.arn("glue", "table/"+d.database+"/"+name))
		}
		return arns, nil
	case dataCatalog:
		return []*string{d.arn("athena", "datacatalog/AwsDataCatalog")}, nil
	case rawQueue:
		return []*string{d.queue.QueueArn()}, nil
	}
	panic("infra: no place " + string(g.on))
}

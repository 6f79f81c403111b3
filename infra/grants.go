package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// grant allows a function some actions on a place of the data stack.
type grant struct {
	on   place
	of   []string // patterns of the items or objects of that place; * matches any text
	acts []string
}

// place is a part of the data stack. The comments say what grant.of matches there.
type place string

const (
	items         place = "items"          // of the DynamoDB table: values of pk
	rawObjects    place = "raw objects"    // keys
	lakeObjects   place = "lake objects"   // keys
	resultObjects place = "result objects" // keys
	rawListing    place = "raw listing"    // prefixes of keys
	lakeListing   place = "lake listing"   // prefixes of keys
	resultListing place = "result listing" // prefixes of keys
	resultBucket  place = "result bucket"
	lakeBucket    place = "lake bucket"
	workgroup     place = "interactive workgroup"
	catalogue     place = "Glue tables"
	dataCatalog   place = "Athena's view of Glue"
	rawQueue      place = "raw queue"
)

// The grants of the functions, by task. A test checks that the deployed policies grant exactly these actions.
var (
	keys = []grant{
		{items, []string{"keys"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
	}

	planetRead = []grant{
		{items, []string{"planet#*"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
	}
	planetWrite = []grant{ // a transaction needs the permission of each of its actions
		{items, []string{"planet#*"}, []string{"dynamodb:PutItem"}},
	}

	// queries is for functions that run queries in Athena, which uses S3 and Glue with its caller's permissions.
	queries = and(keys, []grant{
		{items, []string{"join#*", "query#*"}, []string{
			"dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem",
		}},
		{items, []string{"query#*"}, []string{"dynamodb:Query"}}, // a query's request may be stored in several items
		{items, []string{"lake"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
		{workgroup, nil, []string{
			"athena:GetQueryExecution", "athena:GetQueryResults", "athena:GetWorkGroup", "athena:StartQueryExecution",
			"athena:StopQueryExecution",
		}},
		{dataCatalog, nil, []string{"athena:GetTableMetadata"}},
		{catalogue, nil, []string{"glue:GetDatabase", "glue:GetPartitions", "glue:GetTable"}},
		{lakeObjects, []string{lakeFolder + "*"}, []string{"s3:GetObject"}},
		{lakeListing, []string{lakeFolder + "*"}, []string{"s3:ListBucket"}},
		{lakeBucket, nil, []string{"s3:GetBucketLocation"}},
		{resultObjects, []string{resultFolder + "*"}, []string{
			"s3:AbortMultipartUpload", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject",
		}},
		{resultListing, []string{resultFolder + "*"}, []string{"s3:ListBucket", "s3:ListBucketMultipartUploads"}},
		{resultBucket, nil, []string{"s3:GetBucketLocation"}},
	})

	ingesting = []grant{
		{rawQueue, nil, []string{
			"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
		}},
		{rawObjects, []string{rawFolder + "*"}, []string{"s3:GetObject", "s3:GetObjectVersion"}},
		// Without this grant S3 reports a missing object as forbidden.
		{rawListing, []string{rawFolder + "*"}, []string{"s3:ListBucket"}},
		{lakeObjects, []string{lakeFolder + "*", quarantineFolder + "*"}, []string{"s3:GetObject", "s3:PutObject"}},
		{lakeObjects, []string{lakeFolder + "_staging/*"}, []string{"s3:DeleteObject"}},
		{lakeListing, []string{lakeFolder + "*", quarantineFolder + "*"}, []string{"s3:ListBucket"}},
		{items, []string{"ingest#*", "lake"}, []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}},
	}

	compacting = []grant{
		{lakeObjects, []string{lakeFolder + "*"}, []string{"s3:DeleteObject", "s3:GetObject", "s3:PutObject"}},
		// Compaction finishes imports that were interrupted.
		{lakeObjects, []string{quarantineFolder + "*"}, []string{"s3:GetObject", "s3:PutObject"}},
		{lakeListing, []string{lakeFolder + "*", quarantineFolder + "*"}, []string{"s3:ListBucket"}},
		{items, []string{"ingest#*", "lake"}, []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}},
	}
)

// and joins grants.
func and(grants ...[]grant) []grant { return slices.Concat(grants...) }

// statement returns a grant as a statement of IAM.
func (d *dataStack) statement(g grant) awsiam.PolicyStatement {
	resources, conditions := d.resources(g)
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings(g.acts...), Resources: &resources, Conditions: conditions,
	})
}

// resources returns the ARNs and the conditions of a grant.
func (d *dataStack) resources(g grant) ([]*string, *map[string]any) {
	// IfExists: before S3 reports that an object does not exist, it requires the same permission without a prefix.
	prefixes := &map[string]any{"StringLikeIfExists": map[string]any{"s3:prefix": g.of}}
	switch g.on {
	case items:
		leading := map[string]any{"dynamodb:LeadingKeys": g.of}
		return []*string{d.table.TableArn()}, &map[string]any{"ForAllValues:StringLike": leading}
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
	panic("infra: unknown place " + string(g.on))
}

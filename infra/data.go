package main

import (
	"strconv"
	"strings"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsathena"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsglue"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/bucket"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate/bundle"
	"github.com/orrery/orrery/shared/lakestate/parts"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabledynamo"
)

// dataStack holds what must never be lost. People delete its parts; a deployment never does.
type dataStack struct {
	stack              cdk.Stack
	raw, lake, results awss3.Bucket
	table              awsdynamodb.Table
	database           string
	tables             []string
	workgroups         map[string]string // names, by use
	queue              awssqs.Queue      // messages about new objects under raw/
	deadLetters        awssqs.Queue      // messages that ingest failed to process
}

const (
	dataStackName = "data" // after the name of the deployment
	tableOutput   = "TableName"
)

// Uses of Athena. Each has its own limit.
const (
	interactive = "interactive"
	reports     = "reports"
)

// Folders of the buckets. Package lake names the objects under lakeFolder.
const (
	rawFolder        = "raw/"
	lakeFolder       = "lake/"
	quarantineFolder = "quarantine/"
	resultFolder     = "results/"
)

func newDataStack(app constructs.Construct, p Props) *dataStack {
	d := &dataStack{
		stack:      newStack(app, p, dataStackName, "everything that must never be lost"),
		database:   strings.ReplaceAll(p.Name, "-", "_"), // a hyphen would need quotes in every statement
		workgroups: map[string]string{interactive: p.Name + "-" + interactive, reports: p.Name + "-" + reports},
	}
	d.addQueues(p)
	d.addBuckets(p)
	d.addCatalogue(p)
	d.addWorkgroup(interactive, p.InteractiveCutoff)
	d.addWorkgroup(reports, p.ReportsCutoff)
	d.addTable()
	output(d.stack, "RawBucketName", d.raw.BucketName(), "Put raw logs under "+rawFolder)
	output(d.stack, "ProjectionFrom", jsii.String(strconv.Itoa(p.ProjectionFrom)),
		"First year of the records that are kept")
	output(d.stack, "HorizonDays", jsii.String(strconv.Itoa(p.HorizonDays)),
		"Days before a log arrives from which on its records are kept; 0 for any")
	output(d.stack, "LakeBucketName", d.lake.BucketName(),
		"Parquet under "+lakeFolder+", unreadable lines under "+quarantineFolder)
	output(d.stack, "ResultsBucketName", d.results.BucketName(), "Results of Athena, kept for days")
	output(d.stack, tableOutput, d.table.TableName(), "Planets, API keys, queries, the ledger of ingest")
	output(d.stack, "RawQueueURL", d.queue.QueueUrl(), "Objects that wait for ingest")
	output(d.stack, "RawDeadLettersURL", d.deadLetters.QueueUrl(), "Objects that ingest gave up on")
	d.suppress()
	return d
}

// queueDays is how long a queue keeps its messages: the longest that SQS can.
const queueDays = 14

// addQueues adds the queue between the raw bucket and ingest. A received message stays hidden for a little longer than
// the function may run, so that a log whose run was killed is soon delivered again. AWS recommends six times the
// timeout, for messages whose delivery is throttled. This event source polls for no more messages than ingest has
// instances, and a second delivery imports nothing twice. Ingest itself sets when a failed message is delivered again.
func (d *dataStack) addQueues(p Props) {
	d.deadLetters = newQueue(d.stack, "RawDeadLetters", p.Name+"-raw-dead-letters")
	d.queue = awssqs.NewQueue(d.stack, jsii.String("RawQueue"), &awssqs.QueueProps{
		QueueName:         jsii.String(p.Name + "-raw"),
		VisibilityTimeout: seconds(float64(p.IngestSeconds) + lambdas.DeliveryMargin.Seconds()),
		RetentionPeriod:   days(queueDays),
		Encryption:        awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		DeadLetterQueue: &awssqs.DeadLetterQueue{
			MaxReceiveCount: jsii.Number(lambdas.Deliveries), Queue: d.deadLetters,
		},
	})
	// The condition names the account, not the bucket: the bucket already depends on the queue, and two resources that
	// depend on each other cannot be created.
	d.queue.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("s3.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sqs:SendMessage"),
		Resources:  &[]*string{d.queue.QueueArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": d.stack.Account()}},
	}))
}

// newQueue adds a queue of dead letters, which wait for a person to look at them.
func newQueue(stack cdk.Stack, id, name string) awssqs.Queue {
	return awssqs.NewQueue(stack, &id, &awssqs.QueueProps{
		QueueName:       &name,
		RetentionPeriod: days(queueDays),
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
	})
}

const (
	// oldVersionDays is how long an overwritten or deleted object can be restored.
	oldVersionDays = 14
	// stagedDays is how long a staged object is kept that is removed after its publication, and a bundle that is removed
	// after its hour was compacted. Nobody needs them: what was published has the same bytes, or records, and was
	// verified. Of two rules, S3 follows the one that deletes sooner.
	stagedDays = 1
	// partDays is how long counted parts of questions are kept for the next question with the same parts.
	partDays = 1
)

func (d *dataStack) addBuckets(p Props) {
	old := &awss3.LifecycleRule{
		Id: jsii.String("old-versions"), NoncurrentVersionExpiration: days(oldVersionDays),
		AbortIncompleteMultipartUploadAfter: days(1), ExpiredObjectDeleteMarker: jsii.Bool(true),
	}
	d.raw = d.bucket("Raw", &awss3.BucketProps{
		Versioned: jsii.Bool(true), LifecycleRules: rules(old, expiry(p.RawDays, rawFolder)),
	})
	d.lake = d.bucket("Lake", &awss3.BucketProps{
		Versioned: jsii.Bool(true), LifecycleRules: rules(old, expiry(p.LakeDays, lakeFolder),
			pruning("lines"), pruning("whole"), &awss3.LifecycleRule{
				Id: jsii.String("staged"), Prefix: jsii.String(bucket.StagingRoot), NoncurrentVersionExpiration: days(stagedDays),
			}, &awss3.LifecycleRule{
				Id: jsii.String("bundles"), Prefix: jsii.String(bundle.Root), NoncurrentVersionExpiration: days(stagedDays),
			}),
	})
	d.results = d.bucket("Results", &awss3.BucketProps{
		LifecycleRules: rules(&awss3.LifecycleRule{
			Id:                                  jsii.String("answers"),
			Expiration:                          days(float64(p.ResultDays)),
			AbortIncompleteMultipartUploadAfter: days(1),
		}, &awss3.LifecycleRule{
			Id: jsii.String("parts"), Prefix: jsii.String(resultFolder + parts.Folder), Expiration: days(partDays),
		}),
	})
	// The notification is set as a plain property, because the CDK's own method adds a Lambda function in Python that
	// sets it.
	raw := d.raw.Node().DefaultChild().(awss3.CfnBucket)
	prefix := &awss3.CfnBucket_FilterRuleProperty{Name: jsii.String("prefix"), Value: jsii.String(rawFolder)}
	raw.SetNotificationConfiguration(&awss3.CfnBucket_NotificationConfigurationProperty{
		QueueConfigurations: []any{&awss3.CfnBucket_QueueConfigurationProperty{
			Event: jsii.String("s3:ObjectCreated:*"), Queue: d.queue.QueueArn(),
			Filter: &awss3.CfnBucket_NotificationFilterProperty{
				S3Key: &awss3.CfnBucket_S3KeyFilterProperty{Rules: []any{prefix}},
			},
		}},
	})
	// The bucket needs the queue and its policy first: S3 sends a test message before it accepts the notification.
	d.raw.Node().AddDependency(d.queue)
}

// bucket adds a private bucket that stays when its stack is deleted.
func (d *dataStack) bucket(id string, props *awss3.BucketProps) awss3.Bucket {
	props.Encryption = awss3.BucketEncryption_S3_MANAGED
	props.BlockPublicAccess = awss3.BlockPublicAccess_BLOCK_ALL()
	props.ObjectOwnership = awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED
	props.EnforceSSL = jsii.Bool(true)
	props.MinimumTLSVersion = jsii.Number(1.2)
	props.RemovalPolicy = cdk.RemovalPolicy_RETAIN
	return awss3.NewBucket(d.stack, &id, props)
}

// expiry returns a rule that deletes the objects of a folder after a number of days, or nil if after is 0.
func expiry(after int, folder string) *awss3.LifecycleRule {
	if after == 0 {
		return nil
	}
	return &awss3.LifecycleRule{Id: jsii.String("expiry"), Prefix: &folder, Expiration: days(float64(after))}
}

// pruning returns a rule that deletes old rejected lines, or notes about refused logs. Damaged objects, which are in
// another folder of the quarantine, stay: some of their rows may be nowhere else.
func pruning(folder string) *awss3.LifecycleRule {
	return &awss3.LifecycleRule{
		Id: jsii.String("rejected-" + folder), Prefix: jsii.String(quarantineFolder + folder + "/"),
		Expiration: days(ingest.QuarantineDays),
	}
}

// rules returns the rules that are not nil.
func rules(given ...*awss3.LifecycleRule) *[]*awss3.LifecycleRule {
	var all []*awss3.LifecycleRule
	for _, r := range given {
		if r != nil {
			all = append(all, r)
		}
	}
	return &all
}

// glueFormat is how Glue describes the format of a table's objects.
type glueFormat struct{ classification, input, output, serde string }

const parquetClasses = "org.apache.hadoop.hive.ql.io.parquet."

var (
	parquetFormat = glueFormat{
		"parquet", parquetClasses + "MapredParquetInputFormat", parquetClasses + "MapredParquetOutputFormat",
		parquetClasses + "serde.ParquetHiveSerDe",
	}
	textFormat = glueFormat{
		"csv", "org.apache.hadoop.mapred.TextInputFormat", "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
		"org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
	}
)

// addCatalogue adds the database and its tables, as package lake describes them.
func (d *dataStack) addCatalogue(p Props) {
	account := d.stack.Account()
	database := awsglue.NewCfnDatabase(d.stack, jsii.String("Database"), &awsglue.CfnDatabaseProps{
		CatalogId: account,
		DatabaseInput: &awsglue.CfnDatabase_DatabaseInputProperty{
			Name: &d.database, Description: jsii.String("Recorded traffic"),
		},
	})
	for _, t := range lake.Tables(*d.lake.S3UrlForObject(jsii.String(lakeFolder)), d.database, p.ProjectionFrom) {
		format := parquetFormat
		if t.Name == lake.ListTable {
			format = textFormat
		}
		var columns []any
		for _, c := range t.Columns() {
			columns = append(columns, &awsglue.CfnTable_ColumnProperty{Name: jsii.String(c.Name), Type: jsii.String(c.Type)})
		}
		key := &awsglue.CfnTable_ColumnProperty{Name: jsii.String(t.Key()), Type: jsii.String(lake.PartitionKeyType)}
		properties := t.Properties()
		properties["classification"] = format.classification
		table := awsglue.NewCfnTable(d.stack, &t.Name, &awsglue.CfnTableProps{
			CatalogId:    account,
			DatabaseName: &d.database,
			TableInput: &awsglue.CfnTable_TableInputProperty{
				Name:          &t.Name,
				TableType:     jsii.String("EXTERNAL_TABLE"),
				Parameters:    properties,
				PartitionKeys: []any{key},
				StorageDescriptor: &awsglue.CfnTable_StorageDescriptorProperty{
					Location:     &t.Location,
					Columns:      columns,
					InputFormat:  &format.input,
					OutputFormat: &format.output,
					SerdeInfo:    &awsglue.CfnTable_SerdeInfoProperty{SerializationLibrary: &format.serde},
				},
			},
		})
		table.AddResourceDependency(database, nil)
		d.tables = append(d.tables, t.Name)
	}
}

// addWorkgroup adds a workgroup and enforces its settings: where results go, and how many bytes a query may scan.
func (d *dataStack) addWorkgroup(use string, cutoff int) {
	engine := &awsathena.CfnWorkGroup_EngineVersionProperty{
		SelectedEngineVersion: jsii.String("Athena engine version 3"),
	}
	encryption := &awsathena.CfnWorkGroup_EncryptionConfigurationProperty{EncryptionOption: jsii.String("SSE_S3")}
	awsathena.NewCfnWorkGroup(d.stack, jsii.String("Workgroup-"+use), &awsathena.CfnWorkGroupProps{
		Name:                  jsii.String(d.workgroups[use]),
		Description:           jsii.String("Orrery: " + use + " queries"),
		RecursiveDeleteOption: jsii.Bool(true), // without it the stack cannot be deleted once a query has run
		WorkGroupConfiguration: &awsathena.CfnWorkGroup_WorkGroupConfigurationProperty{
			EnforceWorkGroupConfiguration:   jsii.Bool(true),
			PublishCloudWatchMetricsEnabled: jsii.Bool(true),
			BytesScannedCutoffPerQuery:      jsii.Number(float64(cutoff)),
			EngineVersion:                   engine,
			ResultConfiguration: &awsathena.CfnWorkGroup_ResultConfigurationProperty{
				OutputLocation:          d.resultsURL(),
				EncryptionConfiguration: encryption,
			},
		},
	})
}

// addTable adds the one table of everything except traffic: planets, keys, queries, the ledger.
func (d *dataStack) addTable() {
	key := func(name string) *awsdynamodb.Attribute {
		return &awsdynamodb.Attribute{Name: &name, Type: awsdynamodb.AttributeType_STRING}
	}
	recovery := &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: jsii.Bool(true)}
	d.table = awsdynamodb.NewTable(d.stack, jsii.String("Table"), &awsdynamodb.TableProps{
		PartitionKey:                     key(tabledynamo.PartitionKey),
		SortKey:                          key(tabledynamo.SortKey),
		TimeToLiveAttribute:              jsii.String(table.Expires),
		BillingMode:                      awsdynamodb.BillingMode_PAY_PER_REQUEST,
		PointInTimeRecoverySpecification: recovery,
		DeletionProtection:               jsii.Bool(true),
		RemovalPolicy:                    cdk.RemovalPolicy_RETAIN,
	})
}

// resultsURL returns the URL of the folder for Athena's results.
func (d *dataStack) resultsURL() *string { return d.results.S3UrlForObject(jsii.String(resultFolder)) }

// arn returns the ARN of a service's resource in this account and region.
func (d *dataStack) arn(service, resource string) *string {
	return d.stack.FormatArn(&cdk.ArnComponents{Service: &service, Resource: &resource})
}

func days(n float64) cdk.Duration    { return cdk.Duration_Days(&n) }
func seconds(n float64) cdk.Duration { return cdk.Duration_Seconds(&n) }

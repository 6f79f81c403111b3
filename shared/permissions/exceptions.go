package permissions

import "slices"

// Exception lists actions of a task that AWS itself takes with the function's permissions, so that no request of the
// function shows them.
type Exception struct {
	Task    string
	On      Place
	Actions []string
	Page    string // of AWS's documentation, which asks for them
	Pattern string // the only pattern of the place for which they are an exception; "": they are for all
}

// covers reports whether an atom is among the exception.
func (e Exception) covers(a Atom) bool {
	return e.Task == a.Task && e.On == a.On && (e.Pattern == "" || e.Pattern == a.Pattern) &&
		slices.Contains(e.Actions, a.Action)
}

// Exceptions are all exceptions. Those of querying are also those of querying for reports.
var Exceptions = slices.Concat(queryingExceptions("querying"), queryingExceptions(queryingForReportsName), []Exception{
	// Other functions look for the parts of questions, and for reports there may be none.
	{queryingForReportsName, ResultListing, []string{"s3:ListBucket"}, resultAccess, ""},
	{"ingesting", RawQueue, []string{"sqs:DeleteMessage", "sqs:ReceiveMessage"}, queueAccess, ""},
	{"making reports", ReportQueue, []string{
		"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
	}, queueAccess, ""},
})

func queryingExceptions(task string) []Exception {
	return []Exception{
		{task, Catalog, []string{"glue:GetDatabase", "glue:GetPartitions", "glue:GetTable"}, glueAccess, ""},
		{task, DefaultDatabase, []string{"glue:GetDatabase"}, glueAccess + "#full-access-to-default-db-per-region", ""},
		{task, LakeBucket, []string{"s3:GetBucketLocation"}, s3Access, ""},
		{task, LakeListing, []string{"s3:ListBucket"}, s3Access, "lists/*"}, // Athena lists the objects of a partition
		{task, ResultObjects, []string{
			"s3:AbortMultipartUpload", "s3:ListMultipartUploadParts", "s3:PutObject",
		}, resultAccess, ""},
		{task, ResultListing, []string{"s3:ListBucketMultipartUploads"}, resultAccess, ""},
		{task, ResultBucket, []string{"s3:GetBucketLocation"}, resultAccess, ""},
	}
}

const (
	glueAccess   = "https://docs.aws.amazon.com/athena/latest/ug/fine-grained-access-to-glue-resources.html"
	s3Access     = "https://docs.aws.amazon.com/athena/latest/ug/s3-permissions.html"
	resultAccess = "https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonAthenaFullAccess.html"
	queueAccess  = "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/" +
		"sqs-configure-lambda-function-trigger.html"
)

// Package permissions defines what each function of a deployment may do on AWS. The same table is deployed as IAM
// policies, evaluated as IAM would for the requests that functions send, and checked for grants that nothing uses.
package permissions

import (
	"slices"

	"github.com/orrery/orrery/shared/lambdas"
)

// Task is a part of a function's work and the grants that it needs. Several functions may have the same task.
type Task struct {
	Name   string
	Grants []Grant
}

// Grant permits actions on a part of the deployment.
type Grant struct {
	On      Place
	Of      []string // patterns of what is in that place; * and ? are wildcards
	Actions []string
}

// Place is a part of a deployment. It decides what the patterns of a grant match.
type Place string

// The places, each with what its patterns match. Places without patterns are granted as a whole.
const (
	Items           Place = "items"          // of the DynamoDB table: partition keys
	RawObjects      Place = "raw objects"    // keys
	LakeObjects     Place = "lake objects"   // keys
	ResultObjects   Place = "result objects" // keys
	RawListing      Place = "raw listing"    // prefixes
	LakeListing     Place = "lake listing"   // prefixes
	ResultListing   Place = "result listing" // prefixes
	ResultBucket    Place = "result bucket"
	LakeBucket      Place = "lake bucket"
	Workgroup       Place = "interactive workgroup"
	Catalog         Place = "Glue tables"
	DefaultDatabase Place = "default database of Glue"
	DataCatalog     Place = "Athena's view of Glue"
	RawQueue        Place = "raw queue"
	RawDeadLetters  Place = "raw dead letters"

	PartFunction Place = "part"

	ReportsWorkgroup Place = "reports workgroup"
	ReportQueue      Place = "report queue"
	// What the destinations of scheduled reports need. There may be none.
	MailIdentities   Place = "mail identities"
	ReportBuckets    Place = "report buckets"
	ReportTopics     Place = "report topics"
	ReportParameters Place = "report parameters"
)

// The tasks.
var (
	authentication = Task{"authentication", []Grant{
		{Items, []string{"keys"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
	}}

	// The token keys of API keys that an earlier version issued are items of their own: functions that answer requests may not
	// change keys.
	sealing = Task{"sealing tokens", []Grant{
		{Items, []string{"seals"}, []string{"dynamodb:GetItem", "dynamodb:PutItem"}},
	}}

	readingPlanets = Task{"reading planets", []Grant{
		{Items, []string{"planet#*"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
	}}

	writingPlanets = Task{"writing planets", []Grant{
		{Items, []string{"planet#*"}, []string{"dynamodb:PutItem"}},
	}}

	readingFilters = Task{"reading saved filters", []Grant{
		{Items, []string{"filter#*"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
	}}

	writingFilters = Task{"writing saved filters", []Grant{
		{Items, []string{"filter#*", "configurations#filter"}, []string{"dynamodb:PutItem"}},
	}}

	readingLists = Task{"reading lists of values", []Grant{
		{Items, []string{"list#*"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
		{LakeObjects, []string{"lists/*"}, []string{"s3:GetObject"}},
	}}

	writingLists = Task{"writing lists of values", []Grant{
		{Items, []string{"list#*", "configurations#list"}, []string{"dynamodb:PutItem"}},
		{LakeObjects, []string{"lists/*"}, []string{"s3:PutObject"}},
	}}

	// It lists the objects, and reads none. Most days are counted.
	describing = Task{"describing the lake", []Grant{
		{Items, []string{"lake"}, []string{"dynamodb:GetItem"}},
		{Items, []string{"counts"}, []string{"dynamodb:Query"}},
		{LakeListing, []string{"lake/*"}, []string{"s3:ListBucket"}},
	}}

	// Athena reads and writes S3 and Glue with the permissions of its caller. A function also reads objects itself.
	querying = Task{"querying", []Grant{
		{Items, []string{"join#*"}, []string{"dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem"}},
		// Query: the request of a query may take several items.
		{Items, []string{"query#*"}, []string{"dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query"}},
		{Items, []string{"lake"}, []string{"dynamodb:GetItem"}},
		// Of the objects and of the columns of each day, for estimates; objects with the records of others.
		{Items, []string{"bundles", "counts", "sizes"}, []string{"dynamodb:Query"}},
		// Lists of values that filters name: the newest version, or one by its number.
		{Items, []string{"list#*"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
		// Objects at which queries fail.
		{Items, []string{"suspects"}, []string{"dynamodb:GetItem", "dynamodb:PutItem"}},
		{Workgroup, nil, []string{
			"athena:GetQueryExecution", "athena:GetQueryResults", "athena:GetWorkGroup",
			"athena:StartQueryExecution", "athena:StopQueryExecution",
		}},
		{DataCatalog, nil, []string{"athena:GetTableMetadata"}},
		{Catalog, nil, []string{"glue:GetDatabase", "glue:GetPartitions", "glue:GetTable"}},
		{DefaultDatabase, nil, []string{"glue:GetDatabase"}},
		{LakeObjects, []string{"lake/*", "lists/*"}, []string{"s3:GetObject"}},
		{LakeListing, []string{"lake/*", "lists/*"}, []string{"s3:ListBucket"}},
		{LakeBucket, nil, []string{"s3:GetBucketLocation"}},
		{ResultObjects, []string{"results/*"}, []string{
			"s3:AbortMultipartUpload", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject",
		}},
		{ResultListing, []string{"results/*"}, []string{"s3:ListBucket", "s3:ListBucketMultipartUploads"}},
		{ResultBucket, nil, []string{"s3:GetBucketLocation"}},
		{PartFunction, nil, []string{"lambda:InvokeFunction"}},
	}}

	// It counts parts of questions for other functions.
	counting = Task{"counting parts", []Grant{
		{LakeObjects, []string{"lake/*"}, []string{"s3:GetObject"}},
		{LakeListing, []string{"lake/*"}, []string{"s3:ListBucket"}},
		{ResultObjects, []string{"results/parts/*"}, []string{"s3:GetObject", "s3:PutObject"}},
		{ResultListing, []string{"results/parts/*"}, []string{"s3:ListBucket"}},
	}}

	// It finds values in the lists beside the objects, and lists the objects, but reads none.
	finding = Task{"finding values", []Grant{
		{Items, []string{"lake"}, []string{"dynamodb:GetItem"}},
		{LakeObjects, []string{"lake/_values/*"}, []string{"s3:GetObject"}},
		// Without the permission to list, S3 reports missing lists as forbidden.
		{LakeListing, []string{"lake/compact/*", "lake/fresh/*"}, []string{"s3:ListBucket"}},
	}}

	ingesting = Task{"ingesting", []Grant{
		{RawQueue, nil, []string{
			"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
			"sqs:SendMessage",
		}},
		{RawObjects, []string{"raw/*"}, []string{"s3:GetObject", "s3:GetObjectVersion"}},
		// Without the permission to list, S3 reports a missing object as forbidden.
		{RawListing, []string{"raw/*"}, []string{"s3:ListBucket"}},
		{LakeObjects, []string{"lake/*", "quarantine/*"}, []string{"s3:GetObject", "s3:PutObject"}},
		{LakeObjects, []string{"lake/_staging/*"}, []string{"s3:DeleteObject"}},
		{LakeListing, []string{"lake/*"}, []string{"s3:ListBucket"}},
		{Items, []string{"ingest#*"}, []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}},
		{Items, []string{"lake"}, []string{"dynamodb:GetItem", "dynamodb:PutItem"}},
		{Items, []string{"arrived"}, []string{"dynamodb:GetItem", "dynamodb:PutItem"}},
	}}

	compacting = Task{"compacting", []Grant{
		// It rebuilds damaged objects from the raw logs, for which it reads the ledger.
		{RawObjects, []string{"raw/*"}, []string{"s3:GetObject", "s3:GetObjectVersion"}},
		// Its doctor checks the bucket. Without the permission to list, S3 reports a missing object as forbidden.
		{RawListing, []string{"raw/*"}, []string{"s3:ListBucket"}},
		{Items, []string{"ingest#*"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
		// The lake is complete to the time before which all messages were handled.
		{RawQueue, nil, []string{"sqs:GetQueueAttributes"}},
		{RawDeadLetters, nil, []string{"sqs:GetQueueAttributes"}},
		{LakeObjects, []string{"lake/*"}, []string{"s3:DeleteObject", "s3:GetObject", "s3:PutObject"}},
		// It finishes imports that were cut short.
		{LakeObjects, []string{"quarantine/*"}, []string{"s3:GetObject", "s3:PutObject"}},
		{LakeListing, []string{"lake/*"}, []string{"s3:ListBucket"}},
		{Items, []string{"bundles", "lake"}, []string{"dynamodb:GetItem", "dynamodb:PutItem"}},
		{Items, []string{"counts", "sizes"}, []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}},
		{Items, []string{"suspects"}, []string{"dynamodb:PutItem", "dynamodb:Query"}},
	}}

	reconciling = Task{"reconciling", []Grant{
		{RawListing, []string{"raw/*"}, []string{"s3:ListBucket"}},
		{RawQueue, nil, []string{"sqs:GetQueueAttributes", "sqs:SendMessage"}},
		{Items, []string{"arrived"}, []string{"dynamodb:PutItem", "dynamodb:Query"}},
		{Items, []string{"reconcile", "lake"}, []string{"dynamodb:GetItem", "dynamodb:PutItem"}},
	}}
)

// changingRuns are the items of the transactions that change runs. Each of their actions is granted on all of them,
// although runs are deleted from lists only: see joined.
var changingRuns = []string{"run#*", "runs#*", "unfinished"}

// The tasks of scheduled reports.
var (
	readingReports = Task{"reading reports", []Grant{
		{Items, []string{"report#*"}, []string{"dynamodb:GetItem", "dynamodb:Query"}},
	}}

	writingReports = Task{"writing reports", []Grant{
		{Items, []string{"report#*", "configurations#report"}, []string{"dynamodb:PutItem"}},
	}}

	readingRuns = Task{"reading runs", []Grant{
		{Items, []string{"run#*"}, []string{"dynamodb:GetItem"}},
		{Items, []string{"runs#*"}, []string{"dynamodb:Query"}},
	}}

	requestingRuns = Task{"requesting runs", []Grant{
		{Items, []string{"run#*"}, []string{"dynamodb:GetItem", "dynamodb:PutItem"}},
		{Items, []string{"runs#*", "unfinished"}, []string{"dynamodb:PutItem"}},
	}}

	// It looks for the reports of all configurations, and pauses those with a key that cannot be used. Runs that were
	// requested get another place in the list when they are due.
	queueing = Task{"queueing runs", []Grant{
		{Items, []string{"configurations#report"}, []string{"dynamodb:Query"}},
		{Items, []string{"report#*"}, []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"}},
		{Items, []string{"run#*"}, []string{"dynamodb:GetItem", "dynamodb:PutItem"}},
		{Items, []string{"runs#*"}, []string{"dynamodb:PutItem", "dynamodb:Query"}},
		{Items, []string{"unfinished"}, []string{"dynamodb:PutItem", "dynamodb:Query"}},
		{Items, changingRuns, []string{"dynamodb:DeleteItem"}},
		{ReportQueue, nil, []string{"sqs:GetQueueAttributes", "sqs:SendMessage"}},
	}}

	reporting = Task{"making reports", []Grant{
		{ReportQueue, nil, []string{"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}},
		{Items, []string{"run#*"}, []string{"dynamodb:GetItem", "dynamodb:PutItem"}},
		{Items, []string{"runs#*"}, []string{"dynamodb:PutItem", "dynamodb:Query"}},
		{Items, []string{"unfinished"}, []string{"dynamodb:PutItem"}},
		{Items, changingRuns, []string{"dynamodb:DeleteItem"}},
		// Reports that are made and not yet delivered.
		{ResultObjects, []string{"_reports/*"}, []string{"s3:DeleteObject", "s3:GetObject", "s3:PutObject"}},
	}}

	delivering = Task{"delivering reports", []Grant{
		{MailIdentities, nil, []string{"ses:SendRawEmail"}},
		{ReportBuckets, nil, []string{"s3:PutObject"}},
		{ReportTopics, nil, []string{"sns:Publish"}},
		{ReportParameters, nil, []string{"ssm:GetParameter"}},
	}}

	// It is the task querying in another workgroup.
	queryingForReports = inWorkgroup(queryingForReportsName, querying, ReportsWorkgroup)
)

const queryingForReportsName = "querying for reports"

// inWorkgroup returns the task of queries in another workgroup than the interactive one.
func inWorkgroup(name string, t Task, workgroup Place) Task {
	other := Task{Name: name, Grants: slices.Clone(t.Grants)}
	for i, g := range other.Grants {
		if g.On == Workgroup {
			other.Grants[i].On = workgroup
		}
	}
	return other
}

// tasksOf lists the tasks of each function.
var tasksOf = withOlder(map[string][]Task{
	"topx":            {authentication, querying},
	"stats":           {authentication, querying},
	"timeline":        {authentication, querying, readingPlanets},
	"facets":          {authentication, querying},
	"histogram":       {authentication, querying, readingPlanets},
	"diff":            {authentication, querying},
	"values":          {authentication, finding},
	"logs":            {authentication, sealing, querying},
	"why":             {authentication, querying},
	"query-status":    {authentication, sealing, querying},
	"parse":           {authentication},
	"fields":          {authentication},
	"status":          {authentication, describing},
	"planet-get":      {authentication, readingPlanets},
	"planet-put":      {authentication, readingPlanets, writingPlanets},
	"planet-versions": {authentication, readingPlanets},
	"filter-get":      {authentication, readingFilters},
	"filter-put":      {authentication, readingFilters, writingFilters},
	"list-get":        {authentication, readingLists},
	"list-put":        {authentication, readingLists, writingLists},
	"incidents":       {authentication, querying},
	"effect":          {authentication, querying},
	"whatif":          {authentication, querying},
	"report-now":      {authentication, querying, readingPlanets},
	"report-get":      {authentication, readingReports, readingRuns},
	"report-put":      {authentication, readingReports, writingReports, requestingRuns},
	"not-found":       {},
	"console":         {},
	lambdas.Part:      {counting},
	"ingest":          {ingesting},
	"compact":         {compacting},
	"reconcile":       {reconciling},
	"report-tick":     {authentication, queueing},
	"report":          {authentication, readingReports, queryingForReports, reporting, delivering},
})

// withOlder adds the tasks of lambdas.Older: those of all functions that it stands for.
func withOlder(tasks map[string][]Task) map[string][]Task {
	var all []Task
	for _, f := range lambdas.StandsFor() {
		for _, task := range tasks[f.Name] {
			if !slices.ContainsFunc(all, func(t Task) bool { return t.Name == task.Name }) {
				all = append(all, task)
			}
		}
	}
	tasks[lambdas.Older] = all
	return tasks
}

// Known reports whether the table has a function of the name.
func Known(function string) bool {
	_, known := tasksOf[function]
	return known
}

// TasksOf returns the tasks of a function. It panics for a function that the table lacks.
func TasksOf(function string) []Task {
	tasks, known := tasksOf[function]
	if !known {
		panic("permissions: no tasks for function " + function)
	}
	return tasks
}

// Of returns the grants of a function, joined over its tasks.
func Of(function string) []Grant {
	var grants []Grant
	for _, task := range TasksOf(function) {
		grants = append(grants, task.Grants...)
	}
	return joined(grants)
}

// joined returns the same permissions with one grant for each action on a place, which has all patterns of the action.
// A transaction may need several patterns, and AWS does not document that several statements can allow it together.
func joined(grants []Grant) []Grant {
	var all []Grant
	for _, g := range grants {
		for _, action := range g.Actions {
			i := slices.IndexFunc(all, func(a Grant) bool { return a.On == g.On && a.Actions[0] == action })
			if i < 0 {
				i, all = len(all), append(all, Grant{On: g.On, Actions: []string{action}})
			}
			all[i].Of = append(all[i].Of, g.Of...)
		}
	}
	var short []Grant // with the actions that have the same patterns
	for _, g := range all {
		slices.Sort(g.Of)
		g.Of = slices.Compact(g.Of)
		i := slices.IndexFunc(short, func(s Grant) bool { return s.On == g.On && slices.Equal(s.Of, g.Of) })
		if i < 0 {
			short = append(short, g)
		} else {
			short[i].Actions = append(short[i].Actions, g.Actions[0])
		}
	}
	return short
}

// reaches reports whether a function has a grant on a place.
func reaches(function string, place Place) bool {
	return slices.ContainsFunc(Of(function), func(g Grant) bool { return g.On == place })
}

// AsksAthena reports whether the function starts queries.
func AsksAthena(function string) bool {
	return reaches(function, Workgroup) || reaches(function, ReportsWorkgroup)
}

// tasks returns every task once, in the order of the functions.
func tasks() []Task {
	var all []Task
	for _, f := range lambdas.All {
		for _, task := range TasksOf(f.Name) {
			if !slices.ContainsFunc(all, func(t Task) bool { return t.Name == task.Name }) {
				all = append(all, task)
			}
		}
	}
	return all
}

package permissions

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/report/destination"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		name, pattern, text string
		want                bool
	}{
		{"equal texts match", "keys", "keys", true},
		{"a longer text does not", "keys", "keys2", false},
		{"a shorter text does not", "keys", "key", false},
		{"a star matches any characters", "lake/*", "lake/a/b", true},
		{"a star matches no characters", "lake/*", "lake/", true},
		{"a star at the end needs what precedes it", "lake/*", "lake", false},
		{"stars match between texts", "a*b*c", "a1b2b3c", true},
		{"the text after a star must end the value", "a*b", "abc", false},
		{"two stars match as one", "a**", "a", true},
		{"a question mark matches one character", "a?c", "abc", true},
		{"a question mark matches one character of several bytes", "a?c", "aéc", true},
		{"a question mark does not match nothing", "a?", "a", false},
		{"letter case matters", "Keys", "keys", false},
		{"other characters have no special meaning", "a.[b]", "a.[b]", true},
		{"an empty pattern matches the empty text", "", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := match(test.pattern, test.text); got != test.want {
				t.Errorf("match(%q, %q) = %v", test.pattern, test.text, got)
			}
		})
	}
}

func TestStatementAllows(t *testing.T) {
	leading := func(keys ...string) map[string][]string { return map[string][]string{LeadingKeys: keys} }
	prefix := func(prefix string) map[string][]string { return map[string][]string{Prefix: {prefix}} }
	objects := Statement{Actions: []string{"s3:GetObject"}, Resources: []string{"arn:aws:s3:::lake/lake/*"}}
	items := Statement{
		Actions: []string{"dynamodb:GetItem"}, Resources: []string{"table"},
		Conditions: []Condition{{ForAllValuesStringLike, LeadingKeys, []string{"planet#*", "keys"}}},
	}
	listing := Statement{
		Actions: []string{"s3:ListBucket"}, Resources: []string{"arn:aws:s3:::lake"},
		Conditions: []Condition{{StringLikeIfExists, Prefix, []string{"lake/*"}}},
	}
	mail := Statement{
		Actions: []string{"ses:SendRawEmail"}, Resources: []string{"*"},
		Conditions: []Condition{
			{StringEquals, FromAddress, []string{"a@shop.example", "*"}},
			{ForAllValuesStringLike, Recipients, []string{"*@shop.example"}},
		},
	}
	from := func(sender string, receivers ...string) map[string][]string {
		return map[string][]string{FromAddress: {sender}, Recipients: receivers}
	}
	for _, test := range []struct {
		name      string
		statement Statement
		call      Call
		want      bool
	}{
		{"an action on a resource", objects, Call{"s3:GetObject", "arn:aws:s3:::lake/lake/a", nil}, true},
		{"an action in other letter case", objects, Call{"S3:getobject", "arn:aws:s3:::lake/lake/a", nil}, true},
		{"another action", objects, Call{"s3:GetObjectVersion", "arn:aws:s3:::lake/lake/a", nil}, false},
		{"another resource", objects, Call{"s3:GetObject", "arn:aws:s3:::lake/raw/a", nil}, false},
		{"every resource", objects, Call{"s3:GetObject", "*", nil}, false},
		{"all values match", items, Call{"dynamodb:GetItem", "table", leading("keys", "planet#a")}, true},
		{"one of all values does not match", items, Call{"dynamodb:GetItem", "table", leading("keys", "lake")}, false},
		{"all of no values match", items, Call{"dynamodb:GetItem", "table", leading()}, true},
		{"all values of a missing key match", items, Call{"dynamodb:GetItem", "table", nil}, true},
		{"an existing key matches", listing, Call{"s3:ListBucket", "arn:aws:s3:::lake", prefix("lake/a")}, true},
		{"an existing key does not match", listing, Call{"s3:ListBucket", "arn:aws:s3:::lake", prefix("raw/")}, false},
		{"an existing key is empty", listing, Call{"s3:ListBucket", "arn:aws:s3:::lake", prefix("")}, false},
		{"a missing key is not compared", listing, Call{"s3:ListBucket", "arn:aws:s3:::lake", nil}, true},
		{"both conditions hold", mail, Call{"ses:SendRawEmail", "i", from("a@shop.example", "b@shop.example")}, true},
		{"the first condition fails", mail, Call{"ses:SendRawEmail", "i", from("A@shop.example", "b@shop.example")}, false},
		{"the second condition fails", mail, Call{"ses:SendRawEmail", "i", from("a@shop.example", "b@other.example")}, false},
		{"a missing key is equal to nothing", mail, Call{"ses:SendRawEmail", "i", nil}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.statement.Allows(test.call); got != test.want {
				t.Errorf("%s is allowed: %v", test.call, got)
			}
		})
	}
}

// names are those of a deployment in tests.
var names = Names{
	Region: "eu-central-1", Account: "123456789012", Table: "orrery",
	RawQueue: "orrery-raw", RawDeadLetters: "orrery-raw-dead-letters",
	ReportsWorkgroup: "orrery-reports", ReportQueue: "orrery-report",
	Workgroup: "orrery-interactive", RawBucket: "raw", LakeBucket: "lake", ResultBucket: "results", Database: "orrery",
}

// TestAllowed has one call that is allowed and one that is not for each place.
func TestAllowed(t *testing.T) {
	leading := func(keys ...string) map[string][]string { return map[string][]string{LeadingKeys: keys} }
	prefix := func(prefix string) map[string][]string { return map[string][]string{Prefix: {prefix}} }
	queue := func(operation, name string) Call {
		return Call{"sqs:" + operation, "arn:aws:sqs:eu-central-1:123456789012:" + name, nil}
	}
	table := "arn:aws:dynamodb:eu-central-1:123456789012:table/orrery"
	workgroup := "arn:aws:athena:eu-central-1:123456789012:workgroup/orrery-interactive"
	for _, test := range []struct {
		name, function string
		call           Call
		want           bool
	}{
		{"a reader reads planets", "planet-get", Call{"dynamodb:GetItem", table, leading("planet#a")}, true},
		{"a reader does not write planets", "planet-get", Call{"dynamodb:PutItem", table, leading("planet#a")}, false},
		{"a writer writes planets", "planet-put", Call{"dynamodb:PutItem", table, leading("planet#a")}, true},
		{"a writer does not write keys", "planet-put", Call{"dynamodb:PutItem", table, leading("keys")}, false},
		{"an index is another resource", "parse", Call{"dynamodb:Query", table + "/index/i", leading("keys")}, false},
		{"ingest reads old raw logs", "ingest", Call{"s3:GetObjectVersion", "arn:aws:s3:::raw/raw/a", nil}, true},
		{"ingest does not delete raw objects", "ingest", Call{"s3:DeleteObject", "arn:aws:s3:::raw/raw/a", nil}, false},
		{"compact lists raw objects", "compact", Call{"s3:ListBucket", "arn:aws:s3:::raw", prefix("raw/")}, true},
		{"compact reads raw logs", "compact", Call{"s3:GetObjectVersion", "arn:aws:s3:::raw/raw/a", nil}, true},
		{"compact does not write raw objects", "compact", Call{"s3:PutObject", "arn:aws:s3:::raw/raw/a", nil}, false},
		{"compact reads the ledger", "compact", Call{"dynamodb:Query", table, leading("ingest#a")}, true},
		{"compact does not write the ledger", "compact", Call{"dynamodb:PutItem", table, leading("ingest#a")}, false},
		{"ingest commits an import", "ingest",
			Call{"dynamodb:PutItem", table, leading("ingest#a", "ingest#source#b", "lake")}, true},
		{"ingest commits nothing else", "ingest", Call{"dynamodb:PutItem", table, leading("ingest#a", "keys")}, false},
		{"a query is kept with its key", "topx", Call{"dynamodb:PutItem", table, leading("join#a", "query#a")}, true},
		{"a run that ends leaves the list", "report",
			Call{"dynamodb:DeleteItem", table, leading("run#a", "runs#b", "unfinished")}, true},
		{"compact counts messages", "compact", queue("GetQueueAttributes", "orrery-raw"), true},
		{"compact counts dead letters", "compact", queue("GetQueueAttributes", "orrery-raw-dead-letters"), true},
		{"compact takes no dead letters", "compact", queue("ReceiveMessage", "orrery-raw-dead-letters"), false},
		{"compact deletes merged objects", "compact", Call{"s3:DeleteObject", "arn:aws:s3:::lake/lake/a", nil}, true},
		{"reconcile lists raw objects", "reconcile", Call{"s3:ListBucket", "arn:aws:s3:::raw", prefix("raw/")}, true},
		{"reconcile does not read raw objects", "reconcile",
			Call{"s3:GetObject", "arn:aws:s3:::raw/raw/a", nil}, false},
		{"compact keeps quarantine", "compact", Call{"s3:DeleteObject", "arn:aws:s3:::lake/quarantine/a", nil}, false},
		{"topx reads results", "topx", Call{"s3:GetObject", "arn:aws:s3:::results/results/a.csv", nil}, true},
		{"topx lists results", "topx", Call{"s3:ListBucket", "arn:aws:s3:::results", prefix("results/a")}, true},
		{"topx starts queries", "topx", Call{"athena:StartQueryExecution", workgroup, nil}, true},
		{"topx uses no other workgroup", "topx", Call{"athena:StartQueryExecution", workgroup + "2", nil}, false},
		{"fields starts no queries", "fields", Call{"athena:StartQueryExecution", workgroup, nil}, false},
		{
			"topx reads the default database", "topx",
			Call{"glue:GetDatabase", "arn:aws:glue:eu-central-1:123456789012:database/default", nil}, true,
		},
		{
			"ingest receives messages", "ingest",
			Call{"sqs:ReceiveMessage", "arn:aws:sqs:eu-central-1:123456789012:orrery-raw", nil}, true,
		},
		{"report starts queries of reports", "report",
			Call{"athena:StartQueryExecution", "arn:aws:athena:eu-central-1:123456789012:workgroup/orrery-reports", nil}, true},
		{"report starts no interactive queries", "report", Call{"athena:StartQueryExecution", workgroup, nil}, false},
		{"report writes no definitions", "report", Call{"dynamodb:PutItem", table, leading("report#prod")}, false},
		{"report keeps files of runs", "report", Call{"s3:PutObject", "arn:aws:s3:::results/_reports/a/b", nil}, true},
		{"report-tick sends messages", "report-tick", queue("SendMessage", "orrery-report"), true},
		{"report-tick starts no queries", "report-tick", Call{"athena:StartQueryExecution", workgroup, nil}, false},
		{"report-put does not look for unfinished runs", "report-put", Call{"dynamodb:Query", table, leading("unfinished")}, false},
		{"not-found may do nothing", "not-found", Call{"dynamodb:GetItem", table, leading("keys")}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := names.Resources().Allowed(test.function, test.call); got != test.want {
				t.Errorf("%s: %s is allowed: %v", test.function, test.call, got)
			}
		})
	}
}

// TestOlder: the function that stands for others may do what they may do, and nothing else.
func TestOlder(t *testing.T) {
	var theirs []Grant
	for _, f := range lambdas.StandsFor() {
		theirs = append(theirs, Of(f.Name)...)
	}
	if diff := cmp.Diff(sorted(theirs), sorted(Of(lambdas.Older))); diff != "" {
		t.Errorf("(-theirs +%s):\n%s", lambdas.Older, diff)
	}
}

// sorted returns the single permissions of grants, each once.
func sorted(grants []Grant) (all []string) {
	for _, atom := range atomsOf(Task{Name: "all", Grants: grants}) {
		all = append(all, atom.String())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestDestinations: report may reach the destinations of a deployment, and nothing else.
func TestDestinations(t *testing.T) {
	in := names.Reaching(destination.Needs{
		Buckets:    []destination.Bucket{{Name: "archive", Prefix: "reports/"}, {Name: "whole"}},
		Topics:     []string{"arn:aws:sns:eu-west-1:123456789012:reports"},
		Parameters: []string{"/orrery/chat"},
		Mail: &destination.MailNeeds{
			Senders: []string{"orrery@shop.example"}, Domains: []string{"partner.example", "shop.example"}, ConfigurationSet: "reports",
		},
	})
	mail := func(from string, to ...string) map[string][]string {
		return map[string][]string{FromAddress: {from}, Recipients: to}
	}
	const sender = "orrery@shop.example"
	arn := func(service, resource string) string {
		return "arn:aws:" + service + ":eu-central-1:123456789012:" + resource
	}
	for _, test := range []struct {
		name, action, resource string
		keys                   map[string][]string
		want                   bool
	}{
		{"an object below a prefix", "s3:PutObject", "arn:aws:s3:::archive/reports/a.html", nil, true},
		{"an object beside a prefix", "s3:PutObject", "arn:aws:s3:::archive/other/a.html", nil, false},
		{"an object of a whole bucket", "s3:PutObject", "arn:aws:s3:::whole/a.html", nil, true},
		{"reading an object", "s3:GetObject", "arn:aws:s3:::archive/reports/a.html", nil, false},
		{"a topic of another region", "sns:Publish", "arn:aws:sns:eu-west-1:123456789012:reports", nil, true},
		{"another topic", "sns:Publish", "arn:aws:sns:eu-west-1:123456789012:alarms", nil, false},
		{"a parameter", "ssm:GetParameter", arn("ssm", "parameter/orrery/chat"), nil, true},
		{"another parameter", "ssm:GetParameter", arn("ssm", "parameter/orrery/database"), nil, false},
		{"a mail of a verified address", "ses:SendRawEmail", arn("ses", "identity/"+sender), mail(sender, "a@shop.example"), true},
		{"a mail of a verified domain", "ses:SendRawEmail", arn("ses", "identity/shop.example"), mail(sender, "a@shop.example"), true},
		{"a mail of a domain whose parent is verified", "ses:SendRawEmail", arn("ses", "identity/example"), mail(sender, "a@shop.example"), true},
		{"a mail to a verified address in the sandbox", "ses:SendRawEmail",
			arn("ses", "identity/a@partner.example"), mail(sender, "a@partner.example", "b@shop.example"), true},
		{"a mail with the configuration set", "ses:SendRawEmail", arn("ses", "configuration-set/reports"), mail(sender, "a@shop.example"), true},
		{"a mail with another configuration set", "ses:SendRawEmail", arn("ses", "configuration-set/other"), mail(sender, "a@shop.example"), false},
		{"a mail of another sender", "ses:SendRawEmail", arn("ses", "identity/shop.example"), mail("boss@shop.example", "a@shop.example"), false},
		{"a mail to another domain", "ses:SendRawEmail",
			arn("ses", "identity/"+sender), mail(sender, "a@shop.example", "a@evil.example"), false},
		{"a mail without a sender", "ses:SendRawEmail", arn("ses", "identity/"+sender), nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			call := Call{Action: test.action, Resource: test.resource, Keys: test.keys}
			if got := in.Allowed("report", call); got != test.want {
				t.Errorf("allowed: %v", got)
			}
			if in.Allowed("report-put", call) || names.Resources().Allowed("report", call) {
				t.Error("another function, or report without destinations, is allowed it, too")
			}
		})
	}
}

// TestDefaultConfigurationSet: the identity of the sender may have any set if the settings name none.
func TestDefaultConfigurationSet(t *testing.T) {
	in := names.Reaching(destination.Needs{Mail: &destination.MailNeeds{Senders: []string{"a@shop.example"}, Domains: []string{"shop.example"}}})
	call := Call{
		Action: "ses:SendRawEmail", Resource: "arn:aws:ses:eu-central-1:123456789012:configuration-set/any",
		Keys: map[string][]string{FromAddress: {"a@shop.example"}, Recipients: {"b@shop.example"}},
	}
	if !in.Allowed("report", call) {
		t.Error("it is not allowed")
	}
}

// TestPartitions: the ARNs of a deployment are of the partition of its region.
func TestPartitions(t *testing.T) {
	for region, partition := range map[string]string{
		"eu-central-1": "aws", "us-east-1": "aws", "cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov",
		"eusc-de-east-1": "aws-eusc", "us-iso-east-1": "aws-iso", "us-isob-east-1": "aws-iso-b",
	} {
		t.Run(region, func(t *testing.T) {
			own := names
			own.Region = region
			in := own.Reaching(destination.Needs{
				Buckets: []destination.Bucket{{Name: "archive"}}, Parameters: []string{"/a"}, Mail: &destination.MailNeeds{},
			})
			all := slices.Concat(in.Catalog, in.MailIdentities, in.ReportObjects, in.ReportParameters, []string{
				in.Table, in.RawBucket, in.LakeBucket, in.ResultBucket, in.Workgroup, in.DataCatalog, in.DefaultDatabase,
				in.RawQueue, in.RawDeadLetters, in.ReportsWorkgroup, in.ReportQueue,
			})
			for _, arn := range all {
				if !strings.HasPrefix(arn, "arn:"+partition+":") {
					t.Errorf("%s is not of the partition %s", arn, partition)
				}
			}
			put := Call{Action: "s3:PutObject", Resource: BucketARN(PartitionOf(region), "archive") + "/a.html"}
			if !in.Allowed("report", put) {
				t.Errorf("%v is not allowed", put)
			}
		})
	}
}

func TestEveryFunctionHasTasks(t *testing.T) {
	for _, f := range lambdas.All {
		if !Known(f.Name) {
			t.Errorf("function %s has no row in tasksOf", f.Name)
		}
	}
	if len(tasksOf) != len(lambdas.All) {
		t.Errorf("%d functions have tasks, %d exist", len(tasksOf), len(lambdas.All))
	}
}

func TestGrantsNameSingleActions(t *testing.T) {
	for _, task := range tasks() {
		for _, g := range task.Grants {
			for _, action := range g.Actions {
				if strings.ContainsAny(action, "*?") {
					t.Errorf("%s: %s is a pattern", task.Name, action)
				}
			}
		}
	}
}

func TestReview(t *testing.T) {
	in := names.Resources()
	table := "arn:aws:dynamodb:eu-central-1:123456789012:table/orrery"
	get := Call{"dynamodb:GetItem", table, map[string][]string{LeadingKeys: {"keys"}}}
	query := Call{"dynamodb:Query", table, map[string][]string{LeadingKeys: {"keys"}}}
	only := func(task string) func(Atom) bool { return func(a Atom) bool { return a.Task == task } }
	t.Run("a grant that nothing uses is reported", func(t *testing.T) {
		got := Review(in, Calls{"parse": {get}}, only("authentication"))
		if want := []string{"authentication: dynamodb:Query on items keys: nothing uses it"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("the calls of all functions of a task count", func(t *testing.T) {
		if got := Review(in, Calls{"parse": {get}, "topx": {query}}, only("authentication")); len(got) > 0 {
			t.Errorf("got %q", got)
		}
	})
	t.Run("the calls of other functions do not count", func(t *testing.T) {
		if got := Review(in, Calls{"ingest": {get, query}}, only("authentication")); len(got) != 2 {
			t.Errorf("got %q", got)
		}
	})
	t.Run("an exception that a function uses is reported", func(t *testing.T) {
		read := Call{"glue:GetDatabase", in.DefaultDatabase, nil}
		on := func(a Atom) bool { return a.Task == "querying" && a.On == DefaultDatabase }
		if got := Review(in, Calls{}, on); len(got) > 0 {
			t.Errorf("got %q without calls", got)
		}
		want := []string{
			"querying: glue:GetDatabase on default database of Glue: a function uses it, so it must not be an exception",
		}
		if got := Review(in, Calls{"topx": {read}}, on); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestExceptionsAreGranted finds exceptions that no grant needs any more.
func TestExceptionsAreGranted(t *testing.T) {
	for _, e := range Exceptions {
		for _, action := range e.Actions {
			granted := slices.ContainsFunc(tasks(), func(task Task) bool {
				return slices.ContainsFunc(atomsOf(task), func(a Atom) bool { return a.Action == action && e.covers(a) })
			})
			if !granted {
				t.Errorf("%s: %s on %s is an exception, but it is not granted", e.Task, action, e.On)
			}
		}
		if !strings.HasPrefix(e.Page, "https://docs.aws.amazon.com/") {
			t.Errorf("%s on %s has no page of AWS's documentation: %q", e.Task, e.On, e.Page)
		}
	}
}

package permissions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/report/destination"
)

// Resources holds the ARNs of a deployment's resources.
type Resources struct {
	Table, RawBucket, LakeBucket, ResultBucket, Workgroup, DataCatalog, DefaultDatabase string

	RawQueue, RawDeadLetters string

	ReportsWorkgroup, ReportQueue, PartFunction string
	// Of the destinations of scheduled reports.
	MailIdentities, ReportObjects, ReportTopics, ReportParameters []string
	MailConditions                                                []Condition

	Catalog []string // Glue's catalog, the database and its tables
}

// Names holds the names of a deployment's resources, from which Resources makes ARNs.
type Names struct {
	Region, Account                     string
	Table, Workgroup                    string
	RawQueue, RawDeadLetters            string
	RawBucket, LakeBucket, ResultBucket string
	Database                            string
	ReportsWorkgroup, ReportQueue       string
	PartFunction                        string
}

// Resources returns the ARNs of the named resources.
func (n Names) Resources() Resources {
	arn := func(service, resource string) string { return ARNOf(service, n.Region, n.Account, resource) }
	partition := PartitionOf(n.Region)
	catalog := []string{arn("glue", "catalog"), arn("glue", "database/"+n.Database)}
	for _, table := range lake.Tables("s3://"+n.LakeBucket+"/lake/", n.Database, 0) {
		catalog = append(catalog, arn("glue", "table/"+n.Database+"/"+table.Name))
	}
	return Resources{
		Table:           arn("dynamodb", "table/"+n.Table),
		RawBucket:       BucketARN(partition, n.RawBucket),
		LakeBucket:      BucketARN(partition, n.LakeBucket),
		ResultBucket:    BucketARN(partition, n.ResultBucket),
		Workgroup:       arn("athena", "workgroup/"+n.Workgroup),
		DataCatalog:     arn("athena", "datacatalog/AwsDataCatalog"),
		DefaultDatabase: arn("glue", "database/default"),
		RawQueue:        arn("sqs", n.RawQueue),
		RawDeadLetters:  arn("sqs", n.RawDeadLetters),
		PartFunction:    arn("lambda", "function:"+n.PartFunction),
		Catalog:         catalog,

		ReportsWorkgroup: arn("athena", "workgroup/"+n.ReportsWorkgroup),
		ReportQueue:      arn("sqs", n.ReportQueue),
	}
}

// Reaching returns the resources with those that destinations of scheduled reports need. partition is that of the
// deployment, and arn returns the ARN of a resource of a service in its account and region.
func (in Resources) Reaching(
	n destination.Needs, partition string, arn func(service, resource string) string,
) Resources {
	if m := n.Mail; m != nil {
		// Which identities SES checks depends on what is verified, and in the sandbox those of the receivers are among
		// them. The conditions restrict the mail instead.
		set := cmp.Or(m.ConfigurationSet, "*")
		in.MailIdentities = []string{arn("ses", "identity/*"), arn("ses", "configuration-set/"+set)}
		var receivers []string
		for _, domain := range m.Domains {
			receivers = append(receivers, "*@"+domain)
		}
		in.MailConditions = []Condition{
			{StringEquals, FromAddress, m.Senders}, {ForAllValuesStringLike, Recipients, receivers},
		}
	}
	for _, b := range n.Buckets {
		in.ReportObjects = append(in.ReportObjects, BucketARN(partition, b.Name)+"/"+b.Prefix+"*")
	}
	in.ReportTopics = append(in.ReportTopics, n.Topics...)
	for _, name := range n.Parameters {
		in.ReportParameters = append(in.ReportParameters, arn("ssm", "parameter"+name))
	}
	return in
}

// Reaching returns the resources of the deployment with those that destinations of scheduled reports need.
func (n Names) Reaching(needs destination.Needs) Resources {
	arn := func(service, resource string) string { return ARNOf(service, n.Region, n.Account, resource) }
	return n.Resources().Reaching(needs, PartitionOf(n.Region), arn)
}

// ARNOf returns the ARN of a resource of an account.
func ARNOf(service, region, account, resource string) string {
	return "arn:" + PartitionOf(region) + ":" + service + ":" + region + ":" + account + ":" + resource
}

// BucketARN returns the ARN of a bucket.
func BucketARN(partition, bucket string) string { return "arn:" + partition + ":s3:::" + bucket }

// PartitionOf returns the partition of AWS that a region is in.
func PartitionOf(region string) string {
	for _, p := range []struct{ regions, partition string }{
		{"cn-", "aws-cn"}, {"us-gov-", "aws-us-gov"}, {"eusc-", "aws-eusc"}, {"us-iso-", "aws-iso"},
		{"us-isob-", "aws-iso-b"}, {"eu-isoe-", "aws-iso-e"}, {"us-isof-", "aws-iso-f"},
	} {
		if strings.HasPrefix(region, p.regions) {
			return p.partition
		}
	}
	return "aws"
}

// Statement is a statement of an IAM policy that allows actions.
type Statement struct {
	Actions, Resources []string
	Conditions         []Condition // all of them must hold; each has an operator of its own
}

// Condition restricts a statement by a condition key.
type Condition struct {
	Operator Operator
	Key      string
	Patterns []string
}

// Operator is a condition operator of IAM. Its patterns have the wildcards * and ?.
// See https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html.
type Operator string

// The operators that grants use.
const (
	// StringEquals holds if the call has the key, and a value is equal to a pattern, in which * and ? are no wildcards.
	StringEquals Operator = "StringEquals"
	// StringLikeIfExists holds if a value of the key matches a pattern, or the call lacks the key.
	StringLikeIfExists Operator = "StringLikeIfExists"
	// ForAllValuesStringLike holds if every value of the key matches a pattern. It also holds without values.
	ForAllValuesStringLike Operator = "ForAllValues:StringLike"
)

// The condition keys that grants use.
const (
	LeadingKeys = "dynamodb:LeadingKeys" // partition keys of the items of a request
	Prefix      = "s3:prefix"            // of a listing
	FromAddress = "ses:FromAddress"      // of the sender of a mail
	Recipients  = "ses:Recipients"       // addresses of the receivers of a mail
)

// Statement returns the grant as a statement of IAM over resources. It has no resources if it is about destinations of
// which there are none.
func (g Grant) Statement(in Resources) Statement {
	s := Statement{Actions: g.Actions}
	objects := func(bucket string) Statement {
		for _, pattern := range g.Of {
			s.Resources = append(s.Resources, bucket+"/"+pattern)
		}
		return s
	}
	// IfExists: before S3 reports a missing object as such, it requires the permission to list, without a prefix.
	listing := func(bucket string) Statement {
		s.Resources, s.Conditions = []string{bucket}, []Condition{{StringLikeIfExists, Prefix, g.Of}}
		return s
	}
	whole := func(arns ...string) Statement {
		s.Resources = arns
		return s
	}
	switch g.On {
	case Items:
		s.Conditions = []Condition{{ForAllValuesStringLike, LeadingKeys, g.Of}}
		return whole(in.Table)
	case RawObjects:
		return objects(in.RawBucket)
	case LakeObjects:
		return objects(in.LakeBucket)
	case ResultObjects:
		return objects(in.ResultBucket)
	case RawListing:
		return listing(in.RawBucket)
	case LakeListing:
		return listing(in.LakeBucket)
	case ResultListing:
		return listing(in.ResultBucket)
	case ResultBucket:
		return whole(in.ResultBucket)
	case LakeBucket:
		return whole(in.LakeBucket)
	case Workgroup:
		return whole(in.Workgroup)
	case Catalog:
		return whole(in.Catalog...)
	case DefaultDatabase:
		return whole(in.DefaultDatabase)
	case DataCatalog:
		return whole(in.DataCatalog)
	case RawQueue:
		return whole(in.RawQueue)
	case RawDeadLetters:
		return whole(in.RawDeadLetters)
	case PartFunction:
		return whole(in.PartFunction)
	case ReportsWorkgroup:
		return whole(in.ReportsWorkgroup)
	case ReportQueue:
		return whole(in.ReportQueue)
	case MailIdentities:
		s.Conditions = in.MailConditions
		return whole(in.MailIdentities...)
	case ReportBuckets:
		return whole(in.ReportObjects...)
	case ReportTopics:
		return whole(in.ReportTopics...)
	case ReportParameters:
		return whole(in.ReportParameters...)
	}
	panic("permissions: no place " + string(g.On))
}

// Call is one action that IAM allows or denies. A request may consist of several.
type Call struct {
	Action   string // "s3:GetObject"
	Resource string // ARN, or "*"
	// Keys holds the values of condition keys. It has an entry only for a key that IAM would set.
	Keys map[string][]string
}

// String returns the call as one line, "s3:ListBucket on arn:aws:s3:::b with s3:prefix [raw/]".
func (c Call) String() string {
	text := c.Action + " on " + c.Resource
	for _, key := range slices.Sorted(maps.Keys(c.Keys)) {
		text += fmt.Sprintf(" with %s %v", key, c.Keys[key])
	}
	return text
}

// Allowed reports whether IAM would allow a call of a function.
func (in Resources) Allowed(function string, c Call) bool { return in.allowed(Of(function), c) }

func (in Resources) allowed(grants []Grant, c Call) bool {
	return slices.ContainsFunc(grants, func(g Grant) bool { return g.Statement(in).Allows(c) })
}

// Allows reports whether the statement allows a call. As in IAM, the letter case of actions does not matter, that of
// resources and of condition values does.
func (s Statement) Allows(c Call) bool {
	action := func(pattern string) bool { return match(strings.ToLower(pattern), strings.ToLower(c.Action)) }
	resource := func(pattern string) bool { return match(pattern, c.Resource) }
	fails := func(condition Condition) bool { return !condition.holds(c.Keys) }
	return slices.ContainsFunc(s.Actions, action) && slices.ContainsFunc(s.Resources, resource) &&
		!slices.ContainsFunc(s.Conditions, fails)
}

func (c Condition) holds(keys map[string][]string) bool {
	values, exists := keys[c.Key]
	like := func(value string) bool {
		return slices.ContainsFunc(c.Patterns, func(pattern string) bool { return match(pattern, value) })
	}
	switch c.Operator {
	case StringEquals:
		return slices.ContainsFunc(values, func(value string) bool { return slices.Contains(c.Patterns, value) })
	case StringLikeIfExists:
		return !exists || slices.ContainsFunc(values, like)
	case ForAllValuesStringLike:
		return !slices.ContainsFunc(values, func(value string) bool { return !like(value) })
	}
	panic("permissions: no operator " + string(c.Operator))
}

// match reports whether a text matches a pattern, in which * matches any characters and ? matches one.
func match(pattern, text string) bool {
	star, resume := -1, 0 // the last * and the place in text up to which it has matched
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, t
			p++
		case p < len(pattern) && pattern[p] == '?':
			_, size := utf8.DecodeRuneInString(text[t:])
			p++
			t += size
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			resume++
			p, t = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

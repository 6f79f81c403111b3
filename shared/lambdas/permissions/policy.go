package permissions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/lake"
)

// Resources holds the ARNs of a deployment's resources.
type Resources struct {
	Table, RawBucket, LakeBucket, ResultBucket, Workgroup, DataCatalog, DefaultDatabase string

	RawQueue, RawDeadLetters string

	Catalog []string // Glue's catalog, the database and its tables
}

// Names holds the names of a deployment's resources, from which Resources makes ARNs.
type Names struct {
	Region, Account                     string
	Table, Workgroup                    string
	RawQueue, RawDeadLetters            string
	RawBucket, LakeBucket, ResultBucket string
	Database                            string
}

// Resources returns the ARNs of the named resources.
func (n Names) Resources() Resources {
	arn := func(service, resource string) string { return arnOf(service, n.Region, n.Account, resource) }
	catalog := []string{arn("glue", "catalog"), arn("glue", "database/"+n.Database)}
	for _, table := range lake.TableNames {
		catalog = append(catalog, arn("glue", "table/"+n.Database+"/"+table))
	}
	return Resources{
		Table:           arn("dynamodb", "table/"+n.Table),
		RawBucket:       bucketARN(n.RawBucket),
		LakeBucket:      bucketARN(n.LakeBucket),
		ResultBucket:    bucketARN(n.ResultBucket),
		Workgroup:       arn("athena", "workgroup/"+n.Workgroup),
		DataCatalog:     arn("athena", "datacatalog/AwsDataCatalog"),
		DefaultDatabase: arn("glue", "database/default"),
		RawQueue:        arn("sqs", n.RawQueue),
		RawDeadLetters:  arn("sqs", n.RawDeadLetters),
		Catalog:         catalog,
	}
}

func arnOf(service, region, account, resource string) string {
	return "arn:aws:" + service + ":" + region + ":" + account + ":" + resource
}

func bucketARN(bucket string) string { return "arn:aws:s3:::" + bucket }

// Statement is a statement of an IAM policy that allows actions.
type Statement struct {
	Actions, Resources []string
	Condition          Condition // the zero Condition holds for every call
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
	// StringLikeIfExists holds if a value of the key matches a pattern, or the call lacks the key.
	StringLikeIfExists Operator = "StringLikeIfExists"
	// ForAllValuesStringLike holds if every value of the key matches a pattern. It also holds without values.
	ForAllValuesStringLike Operator = "ForAllValues:StringLike"
)

// The condition keys that grants use.
const (
	LeadingKeys = "dynamodb:LeadingKeys" // partition keys of the items of a request
	Prefix      = "s3:prefix"            // of a listing
)

// Statement returns the grant as a statement of IAM over resources.
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
		s.Resources, s.Condition = []string{bucket}, Condition{StringLikeIfExists, Prefix, g.Of}
		return s
	}
	whole := func(arns ...string) Statement {
		s.Resources = arns
		return s
	}
	switch g.On {
	case Items:
		s.Condition = Condition{ForAllValuesStringLike, LeadingKeys, g.Of}
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
	return slices.ContainsFunc(s.Actions, action) && slices.ContainsFunc(s.Resources, resource) &&
		s.Condition.holds(c.Keys)
}

func (c Condition) holds(keys map[string][]string) bool {
	values, exists := keys[c.Key]
	like := func(value string) bool {
		return slices.ContainsFunc(c.Patterns, func(pattern string) bool { return match(pattern, value) })
	}
	switch c.Operator {
	case "":
		return true
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

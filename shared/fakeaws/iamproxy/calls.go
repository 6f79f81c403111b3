package iamproxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/permissions"
)

// Scope holds what requests do not say themselves.
type Scope struct {
	Account string // of all resources
	// WorkgroupOf returns the workgroup of an execution of Athena, or "" if it is unknown.
	WorkgroupOf func(execution string) string
}

// Credential is what the header Authorization of a signed request names.
type Credential struct {
	AccessKey, Region, Service string
}

var credentialPattern = regexp.MustCompile(`^AWS4-HMAC-SHA256 .*\bCredential=([^/,]+)/\d+/([a-z0-9-]+)/([a-z0-9-]+)/`)

// CredentialOf returns the credential that a request is signed with.
func CredentialOf(r *http.Request) (Credential, error) {
	m := credentialPattern.FindStringSubmatch(r.Header.Get("Authorization"))
	if m == nil {
		return Credential{}, fmt.Errorf("%s %s is not signed by AWS4-HMAC-SHA256", r.Method, r.URL.Path)
	}
	return Credential{AccessKey: m[1], Region: m[2], Service: m[3]}, nil
}

// NeedsBody reports whether CallsOf reads the request's body. Such bodies are small; others are the contents of
// objects.
func NeedsBody(r *http.Request) bool {
	c, err := CredentialOf(r)
	return err == nil && (c.Service != "s3" || r.Method == http.MethodPost && r.URL.Query().Has("delete"))
}

// CallsOf returns the calls that a request of AWS's wire protocols makes. The body may be nil unless NeedsBody reports
// true. The error of a request that it does not understand names what is unknown.
func (s Scope) CallsOf(r *http.Request, body []byte) ([]permissions.Call, error) {
	c, err := CredentialOf(r)
	if err != nil {
		return nil, err
	}
	if c.Service == "s3" {
		return callsOfS3(c, r, body)
	}
	if c.Service == "lambda" {
		return s.callsOfLambda(c, r)
	}
	operation, in, err := operationOf(r, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Service, err)
	}
	var calls []permissions.Call
	switch c.Service {
	case "dynamodb":
		calls, err = s.callsOfDynamoDB(c, operation, body)
	case "athena":
		calls, err = s.callsOfAthena(c, operation, in)
	case "sqs":
		calls, err = s.callsOfSQS(c, operation, in)
	case "ses", "sns", "ssm":
		calls, err = s.callsOfDelivery(c, operation, in, body)
	default:
		calls = []permissions.Call{{Action: c.Service + ":" + operation, Resource: "*"}}
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", c.Service, operation, err)
	}
	return calls, nil
}

// callsOfLambda returns the calls of a request to invoke a function.
func (s Scope) callsOfLambda(c Credential, r *http.Request) ([]permissions.Call, error) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/2015-03-31/functions/"), "/")
	if r.Method != http.MethodPost || rest != "invocations" {
		return nil, fmt.Errorf("lambda: %s %s is not known", r.Method, r.URL.Path)
	}
	return []permissions.Call{{Action: "lambda:InvokeFunction", Resource: s.arn(c, "function:"+name)}}, nil
}

// members holds the members of a JSON object whose values are text, as the operations of most services need no others.
type members map[string]json.RawMessage

// text returns a member, or "" if it is missing.
func (m members) text(name string) (string, error) {
	value, exists := m[name]
	if !exists || string(value) == "null" {
		return "", nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return "", fmt.Errorf("%s is not a string", name)
	}
	return text, nil
}

// required returns a member that must not be empty.
func (m members) required(name string) (string, error) {
	text, err := m.text(name)
	if err == nil && text == "" {
		err = fmt.Errorf("%s is missing", name)
	}
	return text, err
}

// operationOf returns the operation of a request, which a header names in the JSON protocols and a form in the query
// protocol, and the members of a JSON body.
func operationOf(r *http.Request, body []byte) (string, members, error) {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, operation, found := strings.Cut(target, ".")
		if !found || operation == "" {
			return "", nil, fmt.Errorf("X-Amz-Target %q has no operation", target)
		}
		var in members
		if err := json.Unmarshal(body, &in); err != nil {
			return "", nil, fmt.Errorf("%s: the body is not a JSON object: %w", operation, err)
		}
		return operation, in, nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("Action") == "" {
		return "", nil, fmt.Errorf("%s %s names no operation", r.Method, r.URL.Path)
	}
	return form.Get("Action"), nil, nil
}

func (s Scope) arn(c Credential, resource string) string {
	return permissions.ARNOf(c.Service, c.Region, s.Account, resource)
}

// callsOfAthena returns the calls of an operation. An execution is judged by its workgroup.
func (s Scope) callsOfAthena(c Credential, operation string, in members) ([]permissions.Call, error) {
	call := permissions.Call{Action: "athena:" + operation}
	switch operation {
	case "StartQueryExecution", "GetWorkGroup":
		group, err := in.text("WorkGroup")
		if err != nil {
			return nil, err
		}
		if group == "" {
			group = "primary"
		}
		call.Resource = s.arn(c, "workgroup/"+group)
	case "GetQueryExecution", "GetQueryResults", "StopQueryExecution":
		execution, err := in.required("QueryExecutionId")
		if err != nil {
			return nil, err
		}
		group := ""
		if s.WorkgroupOf != nil {
			group = s.WorkgroupOf(execution)
		}
		if group == "" {
			return nil, fmt.Errorf("the workgroup of execution %s is unknown", execution)
		}
		call.Resource = s.arn(c, "workgroup/"+group)
	case "GetTableMetadata":
		catalog, err := in.required("CatalogName")
		if err != nil {
			return nil, err
		}
		call.Resource = s.arn(c, "datacatalog/"+catalog)
	default:
		return nil, fmt.Errorf("the operation is unknown")
	}
	return []permissions.Call{call}, nil
}

// callsOfSQS returns the calls of an operation on a queue. IAM knows no batches: they need the action on one message.
func (s Scope) callsOfSQS(c Credential, operation string, in members) ([]permissions.Call, error) {
	address, err := in.required("QueueUrl")
	if err != nil {
		return nil, err
	}
	known := []string{
		"ChangeMessageVisibility", "DeleteMessage", "GetQueueAttributes", "ReceiveMessage", "SendMessage",
	}
	action := strings.TrimSuffix(operation, "Batch")
	queue := address[strings.LastIndexByte(address, '/')+1:]
	if !slices.Contains(known, action) || queue == "" {
		return nil, fmt.Errorf("the operation or the queue %q is unknown", address)
	}
	return []permissions.Call{{Action: "sqs:" + action, Resource: s.arn(c, queue)}}, nil
}

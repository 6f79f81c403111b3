// Package awscall calls services of AWS of which Orrery needs a single operation. The SDK's package of such a service
// has all operations, and takes seconds to compile. The rest is the SDK's: configuration, credentials, endpoints,
// signatures, attempts and errors.
package awscall

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsxml "github.com/aws/aws-sdk-go-v2/aws/protocol/xml"
	"github.com/aws/smithy-go"
)

// Service is a service of AWS.
type Service struct {
	id        string // its name in the SDK, for errors and for settings such as AWS_ENDPOINT_URL_SNS
	host      string // the first label of its endpoints
	signing   string // its name in signatures
	fipsInGov bool   // in GovCloud, its endpoints for FIPS have names of their own

	version string // of the query protocol
	target  string // the prefix of operations in the JSON protocol
}

// The services.
var (
	CloudFormation = Service{
		id: "CloudFormation", host: "cloudformation", signing: "cloudformation", version: "2010-05-15",
	}
	Lambda = Service{id: "Lambda", host: "lambda", signing: "lambda", fipsInGov: true}
	SES    = Service{id: "SES", host: "email", signing: "ses", fipsInGov: true, version: "2010-12-01"}
	SNS    = Service{id: "SNS", host: "sns", signing: "sns", version: "2010-03-31"}
	SSM    = Service{id: "SSM", host: "ssm", signing: "ssm", target: "AmazonSSM."}
)

// Query calls an operation of CloudFormation, SES or SNS: parameters in a form, the answer in XML. A nil answer is not
// read.
func Query(ctx context.Context, c aws.Config, s Service, operation string, parameters url.Values, answer any) error {
	parameters.Set("Action", operation)
	parameters.Set("Version", s.version)
	got, err := s.send(ctx, c, operation, request{
		path: "/", body: []byte(parameters.Encode()), errorOf: errorInXML,
		header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	})
	if err != nil || answer == nil {
		return err
	}
	if err := xml.Unmarshal(got.body, answer); err != nil {
		return s.failed(operation, &smithy.DeserializationError{Err: err, Snapshot: got.body})
	}
	return nil
}

// JSON calls an operation of SSM: parameters and the answer in JSON.
func JSON(ctx context.Context, c aws.Config, s Service, operation string, parameters, answer any) error {
	body, err := json.Marshal(parameters)
	if err != nil {
		return err
	}
	got, err := s.send(ctx, c, operation, request{
		path: "/", body: body, errorOf: errorInJSON,
		header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {s.target + operation}},
	})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(got.body, answer); err != nil {
		return s.failed(operation, &smithy.DeserializationError{Err: err, Snapshot: got.body})
	}
	return nil
}

// Invoke runs a Lambda function with an event, and returns its answer. If the function failed, the answer is its error.
func Invoke(ctx context.Context, c aws.Config, function string, event []byte) (answer []byte, failed bool, err error) {
	got, err := Lambda.send(ctx, c, "Invoke", request{
		path: "/2015-03-31/functions/" + url.PathEscape(function) + "/invocations", body: event, errorOf: errorInJSON,
		header: http.Header{"Content-Type": {"application/octet-stream"}},
	})
	return got.body, got.header.Get("X-Amz-Function-Error") != "", err
}

// failed returns the error of an operation as the SDK words it.
func (s Service) failed(operation string, err error) error {
	return &smithy.OperationError{ServiceID: s.id, OperationName: operation, Err: err}
}

// errorInXML returns the error of an answer of the query protocol.
func errorInXML(got answer) error {
	of, err := awsxml.GetErrorResponseComponents(bytes.NewReader(got.body), false)
	if err != nil {
		return err
	}
	return apiError(of.Code, of.Message)
}

// errorInJSON returns the error of an answer in JSON. Its code is in a header or in one of two members, and can have a
// namespace before it and a URL after it.
func errorInJSON(got answer) error {
	var of struct {
		Type    string `json:"__type"`
		Code    any
		Message string
	}
	if err := json.Unmarshal(got.body, &of); err != nil && len(got.body) > 0 {
		err = fmt.Errorf("failed to decode response body, %w", err)
		return &smithy.DeserializationError{Err: err, Snapshot: got.body}
	}
	other, _ := of.Code.(string) // some services have a number
	code, _, _ := strings.Cut(cmp.Or(got.header.Get("X-Amzn-ErrorType"), of.Type, other), ":")
	return apiError(code[strings.Index(code, "#")+1:], of.Message)
}

// apiError returns the error of a service. Without a code, it is that of the SDK.
func apiError(code, message string) error {
	if code == "" {
		code = "UnknownError"
		message = cmp.Or(message, code)
	}
	return &smithy.GenericAPIError{Code: code, Message: message}
}

package iamproxy

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/permissions"
)

// callsOfS3 returns the calls of a request in path style. The permissions of each operation are listed in
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html.
func callsOfS3(c Credential, r *http.Request, body []byte) ([]permissions.Call, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	partition := permissions.PartitionOf(c.Region)
	query := r.URL.Query()
	var calls []permissions.Call
	var err error
	switch {
	case bucket == "":
		err = fmt.Errorf("no bucket is named")
	case key == "":
		calls, err = callsOfBucket(r, permissions.BucketARN(partition, bucket), query, body)
	default:
		calls, err = callsOfObject(r, partition, permissions.BucketARN(partition, bucket), key, query)
	}
	if err != nil {
		return nil, fmt.Errorf("s3 %s %s: %w", r.Method, r.URL.RequestURI(), err)
	}
	return calls, nil
}

// onlyParameters fails for a parameter that is not listed: it may select another operation.
func onlyParameters(query url.Values, known ...string) error {
	for name := range query {
		if !slices.Contains(known, name) && name != "x-id" && !strings.HasPrefix(name, "response-") {
			return fmt.Errorf("parameter %q is unknown", name)
		}
	}
	return nil
}

// callsOfBucket returns the calls of a request about a bucket, which is named by its ARN.
func callsOfBucket(r *http.Request, bucket string, query url.Values, body []byte) ([]permissions.Call, error) {
	listing := []string{
		"prefix", "delimiter", "encoding-type", "max-keys", "list-type", "start-after", "continuation-token",
		"fetch-owner", "marker",
	}
	call := permissions.Call{Resource: bucket}
	withPrefix := func() {
		if query.Has("prefix") {
			call.Keys = map[string][]string{permissions.Prefix: {query.Get("prefix")}}
		}
	}
	switch {
	case r.Method == http.MethodPost && query.Has("delete"):
		if err := onlyParameters(query, "delete"); err != nil {
			return nil, err
		}
		return callsOfDeletion(bucket, body)
	case r.Method == http.MethodHead:
		call.Action = "s3:ListBucket"
		return []permissions.Call{call}, onlyParameters(query)
	case r.Method == http.MethodGet && query.Has("location"):
		call.Action = "s3:GetBucketLocation"
		return []permissions.Call{call}, onlyParameters(query, "location")
	case r.Method == http.MethodGet && query.Has("uploads"):
		call.Action = "s3:ListBucketMultipartUploads"
		withPrefix()
		known := []string{
			"uploads", "prefix", "delimiter", "encoding-type", "max-uploads", "key-marker", "upload-id-marker",
		}
		return []permissions.Call{call}, onlyParameters(query, known...)
	case r.Method == http.MethodGet:
		call.Action = "s3:ListBucket"
		withPrefix()
		return []permissions.Call{call}, onlyParameters(query, listing...)
	}
	return nil, fmt.Errorf("the operation is unknown")
}

// callsOfDeletion returns a call for each key of a DeleteObjects request.
func callsOfDeletion(bucket string, body []byte) ([]permissions.Call, error) {
	var request struct {
		Objects []struct{ Key, VersionId string } `xml:"Object"`
	}
	if err := xml.Unmarshal(body, &request); err != nil {
		return nil, fmt.Errorf("the body is not a list of keys: %w", err)
	}
	var calls []permissions.Call
	for _, object := range request.Objects {
		calls = append(calls, onVersion("s3:DeleteObject", object.VersionId, bucket, object.Key))
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("the body names no keys")
	}
	return calls, nil
}

// onVersion returns a call on an object in a bucket, which is named by its ARN. Those on a version of it have an action
// of their own.
func onVersion(action, version, bucket, key string) permissions.Call {
	if version != "" {
		action += "Version"
	}
	return permissions.Call{Action: action, Resource: bucket + "/" + key}
}

func callsOfObject(r *http.Request, partition, bucket, key string, query url.Values) ([]permissions.Call, error) {
	on := func(action string) permissions.Call { return onVersion(action, "", bucket, key) }
	upload, version := query.Get("uploadId"), query.Get("versionId")
	switch {
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && upload != "":
		known := []string{"uploadId", "max-parts", "part-number-marker"}
		return []permissions.Call{on("s3:ListMultipartUploadParts")}, onlyParameters(query, known...)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		get := onVersion("s3:GetObject", version, bucket, key)
		return []permissions.Call{get}, onlyParameters(query, "versionId", "partNumber")
	case r.Method == http.MethodPut:
		calls, err := callsOfPut(r, partition, on)
		if err != nil {
			return nil, err
		}
		return calls, onlyParameters(query, "uploadId", "partNumber")
	case r.Method == http.MethodPost && (query.Has("uploads") || upload != ""):
		return []permissions.Call{on("s3:PutObject")}, onlyParameters(query, "uploads", "uploadId")
	case r.Method == http.MethodDelete && upload != "":
		return []permissions.Call{on("s3:AbortMultipartUpload")}, onlyParameters(query, "uploadId")
	case r.Method == http.MethodDelete:
		call := onVersion("s3:DeleteObject", version, bucket, key)
		return []permissions.Call{call}, onlyParameters(query, "versionId")
	}
	return nil, fmt.Errorf("the operation is unknown")
}

// callsOfPut returns the calls of a write: of the object, and of whatever its headers ask for.
func callsOfPut(
	r *http.Request, partition string, on func(action string) permissions.Call,
) ([]permissions.Call, error) {
	calls := []permissions.Call{on("s3:PutObject")}
	if source := r.Header.Get("X-Amz-Copy-Source"); source != "" {
		get, err := callOfSource(partition, source)
		if err != nil {
			return nil, err
		}
		calls = append(calls, get)
	}
	if r.Header.Get("If-Match") != "" {
		calls = append(calls, on("s3:GetObject"))
	}
	if r.Header.Get("X-Amz-Tagging") != "" {
		calls = append(calls, on("s3:PutObjectTagging"))
	}
	for name := range r.Header {
		if name == "X-Amz-Acl" || strings.HasPrefix(name, "X-Amz-Grant-") {
			calls = append(calls, on("s3:PutObjectAcl"))
		}
	}
	return calls, nil
}

// callOfSource returns the call that reads the source of a copy, "bucket/key?versionId=V", escaped as a path.
func callOfSource(partition, source string) (permissions.Call, error) {
	path, parameters, _ := strings.Cut(source, "?")
	path, err1 := url.PathUnescape(strings.TrimPrefix(path, "/"))
	query, err2 := url.ParseQuery(parameters)
	bucket, key, _ := strings.Cut(path, "/")
	if err1 != nil || err2 != nil || bucket == "" || key == "" {
		return permissions.Call{}, fmt.Errorf("the source of the copy, %q, is not understood", source)
	}
	read := onVersion("s3:GetObject", query.Get("versionId"), permissions.BucketARN(partition, bucket), key)
	return read, onlyParameters(query, "versionId")
}

// ListingOf returns the permission that S3 also requires before it reports the object of a request as missing, and
// whether the request is one that reads an object. Without it, S3 answers 403 in place of 404.
func ListingOf(r *http.Request, calls []permissions.Call) (permissions.Call, bool) {
	if r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source") == "" {
		return permissions.Call{}, false
	}
	for _, c := range calls {
		if c.Action != "s3:GetObject" && c.Action != "s3:GetObjectVersion" {
			continue
		}
		bucket, _, _ := strings.Cut(c.Resource, "/")
		return permissions.Call{Action: "s3:ListBucket", Resource: bucket}, true
	}
	return permissions.Call{}, false
}

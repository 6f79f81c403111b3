// Package iamproxy enforces the permissions of functions on the requests that they send to servers which check none,
// such as LocalStack. A request that IAM would deny gets the response that AWS would give and does not reach the
// server.
package iamproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/permissions"
)

// Config configures a Transport.
type Config struct {
	// Function returns the function that sent a request, or "" if no function did.
	Function func(r *http.Request) string
	// Policy returns what functions may do. It may wait, until ctx ends, for a deployment to know its resources.
	Policy  func(ctx context.Context) (Policy, error)
	Account string            // of the deployment
	Base    http.RoundTripper // sends the requests that are allowed; nil for http.DefaultTransport
	// Denied, if set, is called for each request that is denied. The reason is one line.
	Denied func(function, reason string)
	Record bool // whether Calls returns what functions do
}

// Policy decides which calls functions may make. The resources of a deployment implement it.
type Policy interface {
	Allowed(function string, c permissions.Call) bool
}

var _ Policy = permissions.Resources{}

// Transport is an http.RoundTripper that sends only what the permissions of functions allow.
type Transport struct {
	Config

	mu         sync.Mutex
	workgroups map[string]string // of executions of Athena
	calls      map[string]map[string]permissions.Call
}

// New returns a Transport.
func New(c Config) *Transport {
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	return &Transport{Config: c, workgroups: map[string]string{}, calls: map[string]map[string]permissions.Call{}}
}

// Calls returns each call that functions were allowed to make, once.
func (g *Transport) Calls() permissions.Calls {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := permissions.Calls{}
	for function, calls := range g.calls {
		for _, c := range calls {
			all[function] = append(all[function], c)
		}
	}
	return all
}

// RoundTrip sends a request if it is allowed.
func (g *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := bodyOf(r)
	if err != nil {
		return nil, err
	}
	policy, err := g.Policy(r.Context())
	if err != nil {
		return nil, errors.Join(err, closeBody(r))
	}
	function := g.Function(r)
	calls, err := Scope{Account: g.Account, WorkgroupOf: g.workgroupOf}.CallsOf(r, body)
	if reason := g.deny(policy, function, calls, err); reason != "" {
		return g.refuse(r, function, reason)
	}
	response, err := g.Base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusNotFound {
		if listing, reads := ListingOf(r, calls); reads {
			if reason := g.deny(policy, function, []permissions.Call{listing}, nil); reason != "" {
				return g.refuse(r, function, reason, response.Body)
			}
		}
	}
	return response, g.learn(calls, response)
}

// bodyOf reads the body of a request, if it says what the request does, and leaves it in place.
func bodyOf(r *http.Request) ([]byte, error) {
	if !NeedsBody(r) || r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

func closeBody(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	return r.Body.Close()
}

// deny returns why calls are denied, or "" if they are allowed, and records them.
func (g *Transport) deny(policy Policy, function string, calls []permissions.Call, unknown error) string {
	if function == "" {
		return "the caller is not a function of the deployment"
	}
	if unknown != nil {
		return "the request is not understood: " + unknown.Error()
	}
	for _, c := range calls {
		if !policy.Allowed(function, c) {
			return fmt.Sprintf("%s is not authorized to perform: %s", function, c)
		}
	}
	if g.Record {
		g.record(function, calls)
	}
	return ""
}

func (g *Transport) record(function string, calls []permissions.Call) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls[function] == nil {
		g.calls[function] = map[string]permissions.Call{}
	}
	for _, c := range calls {
		g.calls[function][c.String()] = c
	}
}

// refuse answers a request that is denied, as the service would.
func (g *Transport) refuse(
	r *http.Request, function, reason string, unused ...io.ReadCloser,
) (*http.Response, error) {
	for _, body := range append(unused, r.Body) {
		if body == nil {
			continue
		}
		_, err := io.Copy(io.Discard, body)
		if err := errors.Join(err, body.Close()); err != nil {
			return nil, err
		}
	}
	if g.Denied != nil {
		g.Denied(function, reason)
	}
	return denial(r, reason), nil
}

// denial is the response of a service to a request that IAM denies: XML from S3, JSON from others.
func denial(r *http.Request, reason string) *http.Response {
	response := &http.Response{
		StatusCode: http.StatusForbidden, Status: "403 Forbidden", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Request: r,
	}
	var text []byte
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		response.StatusCode, response.Status = http.StatusBadRequest, "400 Bad Request"
		response.Header.Set("Content-Type", "application/x-amz-json-1.0")
		response.Header.Set("X-Amzn-Errortype", "AccessDeniedException")
		body := map[string]string{"__type": "AccessDeniedException", "Message": reason, "message": reason}
		text, _ = json.Marshal(body) // strings can always be encoded
	} else {
		var escaped bytes.Buffer
		_ = xml.EscapeText(&escaped, []byte(reason)) // writing to a buffer does not fail
		response.Header.Set("Content-Type", "application/xml")
		text = fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>AccessDenied</Code><Message>%s</Message></Error>`, &escaped)
	}
	response.ContentLength = int64(len(text))
	response.Header.Set("Content-Length", fmt.Sprint(len(text)))
	if r.Method == http.MethodHead {
		text = nil
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response
}

func (g *Transport) workgroupOf(execution string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.workgroups[execution]
}

// learn remembers the workgroup of an execution that has been started.
func (g *Transport) learn(calls []permissions.Call, response *http.Response) error {
	start := slices.IndexFunc(calls, func(c permissions.Call) bool { return c.Action == "athena:StartQueryExecution" })
	if start < 0 || response.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	var started struct {
		ID string `json:"QueryExecutionId"`
	}
	if json.Unmarshal(body, &started) != nil || started.ID == "" {
		return nil // the client reports it
	}
	_, group, _ := strings.Cut(calls[start].Resource, ":workgroup/")
	g.mu.Lock()
	defer g.mu.Unlock()
	g.workgroups[started.ID] = group
	return nil
}

// ByAccessKey returns a Config.Function for functions that sign with an access key of their deployed name, which is
// prefix and the function's name.
func ByAccessKey(prefix string) func(*http.Request) string {
	return func(r *http.Request) string {
		c, err := CredentialOf(r)
		name, own := strings.CutPrefix(c.AccessKey, prefix)
		if err != nil || !own || !permissions.Known(name) {
			return ""
		}
		return name
	}
}

// Proxy returns a reverse proxy that denies requests without permission. backend returns the server of a service, such
// as "s3". The proxy streams bodies.
func (g *Transport) Proxy(backend func(service string) *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Transport:     g,
		FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			c, _ := CredentialOf(p.In) // a request without is denied
			to := backend(c.Service)
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = to.Scheme, to.Host, to.Host
			p.Out.Header.Del("Expect") // the server has answered it
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusBadGateway)
		},
	}
}

package awscall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	sestypes "github.com/aws/aws-sdk-go-v2/service/ses/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
	"github.com/google/go-cmp/cmp"
)

// call is an operation, called by this package and by the SDK.
type call struct {
	service Service
	content string // media type of answers
	ours    func(context.Context, aws.Config) error
	sdk     func(context.Context, aws.Config) error
}

var calls = map[string]call{
	"DescribeStacks": {
		CloudFormation, "text/xml",
		func(ctx context.Context, c aws.Config) error {
			return Query(ctx, c, CloudFormation, "DescribeStacks", url.Values{"StackName": {"shop-api"}}, nil)
		},
		func(ctx context.Context, c aws.Config) error {
			in := &cloudformation.DescribeStacksInput{StackName: aws.String("shop-api")}
			_, err := cloudformation.NewFromConfig(c).DescribeStacks(ctx, in)
			return err
		},
	},
	"SendRawEmail": {
		SES, "text/xml",
		func(ctx context.Context, c aws.Config) error {
			return Query(ctx, c, SES, "SendRawEmail", url.Values{
				"Source": {"Müller <a@example.com>"}, "Destinations.member.1": {"b@example.com"},
				"RawMessage.Data": {"YSBiJis="},
			}, nil)
		},
		func(ctx context.Context, c aws.Config) error {
			_, err := ses.NewFromConfig(c).SendRawEmail(ctx, &ses.SendRawEmailInput{
				Source: aws.String("Müller <a@example.com>"), Destinations: []string{"b@example.com"},
				RawMessage: &sestypes.RawMessage{Data: []byte("a b&+")},
			})
			return err
		},
	},
	"Publish": {
		SNS, "text/xml",
		func(ctx context.Context, c aws.Config) error {
			return Query(ctx, c, SNS, "Publish", url.Values{
				"TopicArn": {"arn:aws:sns:eu-central-1:1:reports"}, "Message": {"ORRERY · a\n"},
				"MessageAttributes.entry.1.Name": {"run"}, "MessageAttributes.entry.1.Value.DataType": {"String"},
				"MessageAttributes.entry.1.Value.StringValue": {"3f1c"},
			}, nil)
		},
		func(ctx context.Context, c aws.Config) error {
			_, err := sns.NewFromConfig(c).Publish(ctx, &sns.PublishInput{
				TopicArn: aws.String("arn:aws:sns:eu-central-1:1:reports"), Message: aws.String("ORRERY · a\n"),
				MessageAttributes: map[string]snstypes.MessageAttributeValue{
					"run": {DataType: aws.String("String"), StringValue: aws.String("3f1c")},
				},
			})
			return err
		},
	},
	"GetParameter": {
		SSM, "application/x-amz-json-1.1",
		func(ctx context.Context, c aws.Config) error {
			return JSON(ctx, c, SSM, "GetParameter", map[string]any{"Name": "/a/ü", "WithDecryption": true}, &struct{}{})
		},
		func(ctx context.Context, c aws.Config) error {
			in := &ssm.GetParameterInput{Name: aws.String("/a/ü"), WithDecryption: aws.Bool(true)}
			_, err := ssm.NewFromConfig(c).GetParameter(ctx, in)
			return err
		},
	},
	"Invoke": {
		Lambda, "application/json",
		func(ctx context.Context, c aws.Config) error {
			_, _, err := Invoke(ctx, c, "shop/a b-reconcile", []byte(`{"limit":1}`))
			return err
		},
		func(ctx context.Context, c aws.Config) error {
			_, err := lambda.NewFromConfig(c).Invoke(ctx, &lambda.InvokeInput{
				FunctionName: aws.String("shop/a b-reconcile"), Payload: []byte(`{"limit":1}`),
			})
			return err
		},
	},
}

// asked is a request without what differs from request to request.
type asked struct {
	Method, Path, Target, Content, Scope, Signed string
	Form                                         url.Values
	JSON                                         any
	date                                         string
}

// server gives its answers one after the other, the last one for ever, and keeps the requests.
type server struct {
	mutex   sync.Mutex
	asked   []asked
	answers []http.HandlerFunc
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	authorization := r.Header.Get("Authorization") // AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…
	parts := append(strings.Split(authorization, ", "), "", "")
	a := asked{
		Method: r.Method, Path: r.URL.EscapedPath(), Target: r.Header.Get("X-Amz-Target"),
		Content: r.Header.Get("Content-Type"), Scope: parts[0], Signed: parts[1], date: r.Header.Get("X-Amz-Date"),
	}
	if strings.Contains(a.Content, "form") {
		a.Form, err = url.ParseQuery(string(body))
	} else {
		err = json.Unmarshal(body, &a.JSON)
	}
	if err != nil {
		panic(err)
	}
	s.asked = append(s.asked, a)
	next := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	next(w, r)
}

// start starts a server, and returns a configuration with which it is asked without waiting between attempts.
func start(t *testing.T, answers ...http.HandlerFunc) (*server, aws.Config) {
	t.Helper()
	s := &server{answers: answers}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	base := h.URL + "/aws"
	return s, aws.Config{
		Region: "eu-central-1", BaseEndpoint: &base,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "token"),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
}

// answering answers with a status, an error code in a header of Lambda and SSM, and a body.
func answering(status int, content, code, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", content)
		w.Header().Set("X-Amzn-RequestId", "4711")
		if code != "" {
			w.Header().Set("X-Amzn-ErrorType", code)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// success is an answer of an operation.
func success(operation string, c call) http.HandlerFunc {
	body := "{}"
	if c.content == "text/xml" {
		body = fmt.Sprintf("<%sResponse><%[1]sResult></%[1]sResult></%[1]sResponse>", operation)
	}
	return answering(200, c.content, "", body)
}

func TestRequestsAreThoseOfTheSDK(t *testing.T) {
	for name, c := range calls {
		t.Run(name, func(t *testing.T) {
			server, cfg := start(t, success(name, c))
			if err := errors.Join(c.ours(t.Context(), cfg), c.sdk(t.Context(), cfg)); err != nil {
				t.Fatal(err)
			}
			ours, sdk := server.asked[0], server.asked[1]
			ours.date, sdk.date = "", ""
			if ours.Scope == "" {
				t.Error("the request is not signed")
			}
			if diff := cmp.Diff(sdk, ours, cmp.AllowUnexported(asked{})); diff != "" {
				t.Errorf("(-SDK +ours):\n%s", diff)
			}
		})
	}
}

func TestErrorsAreThoseOfTheSDK(t *testing.T) {
	const inXML = "<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>"
	for name, c := range calls {
		bodies := map[string]http.HandlerFunc{
			"a code in the header": answering(403, c.content, "com.amazon#AccessDenied:http://x/", `{"message":"no"}`),
			"a code in a member":   answering(400, c.content, "", `{"__type":"a#AccessDenied","Message":"no"}`),
			"another member":       answering(400, c.content, "", `{"code":"Throttling","message":"slow"}`),
			"a number as a code":   answering(400, c.content, "", `{"code":7,"message":"slow"}`),
			"nothing":              answering(502, c.content, "", ""),
			"no JSON":              answering(503, c.content, "", "<html>"),
		}
		if c.content == "text/xml" {
			bodies = map[string]http.HandlerFunc{
				"an error":        answering(403, c.content, "", fmt.Sprintf(inXML, "AccessDenied", "no")),
				"an error passes": answering(400, c.content, "", fmt.Sprintf(inXML, "Throttling", "slow")),
				"no code":         answering(500, c.content, "", fmt.Sprintf(inXML, "", "no")),
				"nothing":         answering(502, c.content, "", ""),
				"no XML":          answering(503, c.content, "", "{"),
			}
		}
		for what, body := range bodies {
			t.Run(name+"/"+what, func(t *testing.T) {
				server, cfg := start(t, body)
				ours := c.ours(t.Context(), cfg)
				attempts := len(server.asked)
				sdk := c.sdk(t.Context(), cfg)
				if ours == nil || sdk == nil || ours.Error() != sdk.Error() {
					t.Errorf("%v\nthe SDK: %v", ours, sdk)
				}
				if again := len(server.asked) - attempts; attempts != again {
					t.Errorf("%d attempts, the SDK makes %d", attempts, again)
				}
				if a, b := codeAndMessage(ours), codeAndMessage(sdk); a != b {
					t.Errorf("%s, the SDK: %s", a, b)
				}
			})
		}
	}
}

// codeAndMessage returns what an error of a service has, or "".
func codeAndMessage(err error) string {
	var of smithy.APIError
	if !errors.As(err, &of) {
		return ""
	}
	return of.ErrorCode() + ": " + of.ErrorMessage()
}

func TestRequestsThatFailBeforeAnAnswer(t *testing.T) {
	for name, c := range calls {
		t.Run(name, func(t *testing.T) {
			_, cfg := start(t, success(name, c))
			for what, change := range map[string]func(*aws.Config){
				"no region": func(c *aws.Config) { c.Region, c.BaseEndpoint = "", nil },
				"no credentials": func(c *aws.Config) {
					c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
						return aws.Credentials{}, errors.New("there are none")
					})
				},
				"no server": func(c *aws.Config) { c.BaseEndpoint = aws.String("http://127.0.0.1:1") },
			} {
				cfg := cfg
				change(&cfg)
				ours, sdk := c.ours(t.Context(), cfg), c.sdk(t.Context(), cfg)
				if ours == nil || sdk == nil || ours.Error() != sdk.Error() {
					t.Errorf("%s: %v\nthe SDK: %v", what, ours, sdk)
				}
			}
			cancelled, cancel := context.WithCancel(t.Context())
			cancel()
			if err := c.ours(cancelled, cfg); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled context: %v", err)
			}
		})
	}
}

// TestPassingErrors: an attempt after an error that passes is signed at its own time.
func TestPassingErrors(t *testing.T) {
	late := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		answering(403, "text/xml", "", "<ErrorResponse><Error><Code>SignatureDoesNotMatch</Code></Error></ErrorResponse>")(w, r)
	}
	c := calls["DescribeStacks"]
	server, cfg := start(t, late, success("DescribeStacks", c))
	if err := c.ours(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if len(server.asked) != 2 {
		t.Fatalf("%d attempts", len(server.asked))
	}
	const layout = "20060102T150405Z"
	first, err1 := time.Parse(layout, server.asked[0].date)
	second, err2 := time.Parse(layout, server.asked[1].date)
	if gap := second.Sub(first); err1 != nil || err2 != nil || gap < 59*time.Minute || gap > 61*time.Minute {
		t.Errorf("signed at %s and at %s", first, second)
	}
}

func TestAnonymousRequestsAreNotSigned(t *testing.T) {
	for name, c := range calls {
		server, cfg := start(t, success(name, c))
		cfg.Credentials = aws.AnonymousCredentials{}
		if err := c.ours(t.Context(), cfg); err != nil || server.asked[0].Scope != "" {
			t.Errorf("%s: %v, %q", name, err, server.asked[0].Scope)
		}
	}
}

// TestEndpointsAreThoseOfTheSDK compares the endpoints of some regions of each partition.
func TestEndpointsAreThoseOfTheSDK(t *testing.T) {
	type endpoint = smithyendpoints.Endpoint
	resolvers := map[string]func(region, base *string, fips, dualStack *bool) (endpoint, error){
		"DescribeStacks": func(region, base *string, fips, dualStack *bool) (endpoint, error) {
			p := cloudformation.EndpointParameters{Region: region, Endpoint: base, UseFIPS: fips, UseDualStack: dualStack}
			return cloudformation.NewDefaultEndpointResolverV2().ResolveEndpoint(t.Context(), p)
		},
		"SendRawEmail": func(region, base *string, fips, dualStack *bool) (endpoint, error) {
			p := ses.EndpointParameters{Region: region, Endpoint: base, UseFIPS: fips, UseDualStack: dualStack}
			return ses.NewDefaultEndpointResolverV2().ResolveEndpoint(t.Context(), p)
		},
		"Publish": func(region, base *string, fips, dualStack *bool) (endpoint, error) {
			p := sns.EndpointParameters{Region: region, Endpoint: base, UseFIPS: fips, UseDualStack: dualStack}
			return sns.NewDefaultEndpointResolverV2().ResolveEndpoint(t.Context(), p)
		},
		"GetParameter": func(region, base *string, fips, dualStack *bool) (endpoint, error) {
			p := ssm.EndpointParameters{Region: region, Endpoint: base, UseFIPS: fips, UseDualStack: dualStack}
			return ssm.NewDefaultEndpointResolverV2().ResolveEndpoint(t.Context(), p)
		},
		"Invoke": func(region, base *string, fips, dualStack *bool) (endpoint, error) {
			p := lambda.EndpointParameters{Region: region, Endpoint: base, UseFIPS: fips, UseDualStack: dualStack}
			return lambda.NewDefaultEndpointResolverV2().ResolveEndpoint(t.Context(), p)
		},
	}
	for name, resolve := range resolvers {
		for _, region := range []string{
			"us-east-1", "eu-central-1", "ap-southeast-7", "xx-new-1", "cn-north-1", "cn-northwest-1", "us-gov-west-1",
			"us-gov-east-1", "us-iso-east-1", "us-isob-east-1", "eu-isoe-west-1", "us-isof-south-1", "eusc-de-east-1", "",
		} {
			for _, base := range []*string{nil, aws.String("http://localhost:4566/a")} {
				for i := range 4 {
					fips, dualStack := i&1 != 0, i&2 != 0
					in := &region
					if region == "" {
						in = nil
					}
					want, wantErr := resolve(in, base, &fips, &dualStack)
					c := aws.Config{Region: region, BaseEndpoint: base, ConfigSources: []any{settings{fips, dualStack}}}
					got, err := calls[name].service.url(t.Context(), c, sts.NewFromConfig(c).Options(), "/")
					if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && got.Host != want.URI.Host {
						t.Errorf("%s in %q, FIPS %t, dual stack %t: %v, %v; the SDK: %s, %v",
							name, region, fips, dualStack, got, err, &want.URI, wantErr)
					}
				}
			}
		}
	}
}

// settings is a source of a configuration.
type settings struct{ fips, dualStack bool }

func (s settings) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	if s.fips {
		return aws.FIPSEndpointStateEnabled, true, nil
	}
	return aws.FIPSEndpointStateDisabled, true, nil
}

func (s settings) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	if s.dualStack {
		return aws.DualStackEndpointStateEnabled, true, nil
	}
	return aws.DualStackEndpointStateDisabled, true, nil
}

// TestConfiguredEndpoints: the environment and the files can have endpoints, for all services and for each.
func TestConfiguredEndpoints(t *testing.T) {
	for _, test := range []struct {
		rule string
		set  map[string]string
	}{
		{"none", nil},
		{"for all", map[string]string{"AWS_ENDPOINT_URL": "http://all"}},
		{"for one", map[string]string{"AWS_ENDPOINT_URL_SNS": "http://sns"}},
		{"for one and for all", map[string]string{"AWS_ENDPOINT_URL": "http://all", "AWS_ENDPOINT_URL_SNS": "http://sns"}},
		{"ignored", map[string]string{"AWS_ENDPOINT_URL_SNS": "http://sns", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}},
		{"not ignored", map[string]string{"AWS_ENDPOINT_URL_SNS": "http://sns", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false"}},
		{"in a file", map[string]string{"AWS_PROFILE": "local"}},
		{"in a file, and for all", map[string]string{"AWS_PROFILE": "local", "AWS_ENDPOINT_URL": "http://all"}},
		{"in a file, ignored", map[string]string{"AWS_PROFILE": "local", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Setenv("AWS_CONFIG_FILE", "testdata/config")
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "testdata/none")
			t.Setenv("AWS_REGION", "eu-central-1")
			for name, value := range test.set {
				t.Setenv(name, value)
			}
			c, err := config.LoadDefaultConfig(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, want := SNS.base(t.Context(), c), sns.NewFromConfig(c).Options().BaseEndpoint
			if aws.ToString(got) != aws.ToString(want) {
				t.Errorf("%s, the SDK: %s", aws.ToString(got), aws.ToString(want))
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	_, cfg := start(t, answering(200, "text/xml", "", "<A><B><member>1</member><member>2</member></B></A>"))
	var list struct {
		B []int `xml:"B>member"`
	}
	if err := Query(t.Context(), cfg, SNS, "A", url.Values{}, &list); err != nil || !cmp.Equal(list.B, []int{1, 2}) {
		t.Errorf("%v, %v", list, err)
	}
	_, cfg = start(t, answering(200, "text/xml", "", "{"))
	err := Query(t.Context(), cfg, SNS, "A", url.Values{}, &list)
	if err == nil || !strings.Contains(err.Error(), "operation error SNS: A, ") {
		t.Errorf("an answer that is no XML: %v", err)
	}
	err = JSON(t.Context(), cfg, SSM, "A", nil, &list)
	if err == nil || !strings.Contains(err.Error(), "operation error SSM: A, ") {
		t.Errorf("an answer that is no JSON: %v", err)
	}
	_, cfg = start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		answering(200, "application/json", "", `{"errorMessage":"a"}`)(w, r)
	})
	answer, failed, err := Invoke(t.Context(), cfg, "a", []byte("{}"))
	if string(answer) != `{"errorMessage":"a"}` || !failed || err != nil {
		t.Errorf("%s, %t, %v", answer, failed, err)
	}
}

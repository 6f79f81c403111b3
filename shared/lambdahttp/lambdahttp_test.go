package lambdahttp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/orrery/orrery/shared/api/problem"
)

// invoke sends an event to a handler and decodes the answer like the gateway.
func invoke(
	t testing.TB, ctx context.Context, handler http.HandlerFunc, event any,
) (response events.APIGatewayProxyResponse, body []byte) {
	t.Helper()
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := New(handler, problem.WriteError, slog.New(slog.DiscardHandler)).Invoke(ctx, payload)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer) > MaxAnswer {
		t.Errorf("an answer of %d bytes: Lambda sends at most %d", len(answer), MaxAnswer)
	}
	if err := json.Unmarshal(answer, &response); err != nil {
		t.Fatal(err)
	}
	body = []byte(response.Body)
	if response.IsBase64Encoded {
		if body, err = base64.StdEncoding.DecodeString(response.Body); err != nil {
			t.Fatal(err)
		}
	}
	return response, body
}

func get(path string) events.APIGatewayProxyRequest {
	return events.APIGatewayProxyRequest{
		HTTPMethod: http.MethodGet,
		Path:       path,
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID:  "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
			DomainName: "api.example",
		},
	}
}

func TestResponseIsUnchanged(t *testing.T) {
	response, body := invoke(t, t.Context(), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "17")
		w.WriteHeader(http.StatusCreated)
		w.WriteHeader(http.StatusOK) // too late
		_, _ = io.WriteString(w, `{"a":"<&>`+"\u2028"+`"}`)
	}, get("/x"))
	const want = "{\"a\":\"<&>\u2028\"}"
	if response.StatusCode != http.StatusCreated || string(body) != want || response.IsBase64Encoded {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if got := strings.Join(response.MultiValueHeaders["Set-Cookie"], "; "); got != "a=1; b=2" {
		t.Errorf("cookies %q", got)
	}
	if _, counted := response.MultiValueHeaders["Content-Length"]; counted {
		t.Error("Content-Length is sent, which the gateway renames")
	}
}

func TestBinaryBodyIsBase64(t *testing.T) {
	sent := []byte("\x1f\x8b\x08\x00 compressed \xff")
	response, body := invoke(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(sent)
	}, get("/x"))
	if !response.IsBase64Encoded || !bytes.Equal(body, sent) || response.StatusCode != http.StatusOK {
		t.Errorf("%d base64 %t: %q", response.StatusCode, response.IsBase64Encoded, body)
	}
}

func TestResponsesWithoutBody(t *testing.T) {
	for name, test := range map[string]struct {
		method  string
		handler http.HandlerFunc
		status  int
	}{
		"nothing written": {"GET", func(http.ResponseWriter, *http.Request) {}, 200},
		"no content":      {"OPTIONS", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 204},
		"head": {"HEAD", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "\xff the body of GET")
		}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			event := get("/x")
			event.HTTPMethod = test.method
			response, body := invoke(t, t.Context(), test.handler, event)
			if response.StatusCode != test.status || len(body) > 0 || response.IsBase64Encoded {
				t.Errorf("%d %q", response.StatusCode, body)
			}
		})
	}
}

// TestLargestAnswer: answers of exactly MaxAnswer bytes are sent, longer ones are errors.
func TestLargestAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	ascii := func(n int) []byte { return bytes.Repeat([]byte{'a'}, n) }
	quotes := func(n int) []byte { return bytes.Repeat([]byte{'"'}, n) }
	binary := func(n int) []byte { return bytes.Repeat([]byte{0xff}, n) }
	frame := func(base64 bool) int {
		text, err := encode(events.APIGatewayProxyResponse{
			StatusCode:        200,
			MultiValueHeaders: http.Header{"Content-Type": {"x/y"}},
			IsBase64Encoded:   base64,
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	text := MaxAnswer - frame(false)
	coded := (MaxAnswer - frame(true)) / 4 * 3
	for name, test := range map[string]struct {
		body   []byte
		base64 bool
		status int
	}{
		"text":                                   {ascii(text), false, 200},
		"text of one more byte":                  {ascii(text + 1), false, 413},
		"binary":                                 {binary(coded), true, 200},
		"binary of one more byte":                {binary(coded + 1), false, 413},
		"text of escapes":                        {quotes(text / 2), false, 200},
		"text of escapes as base64":              {quotes(text/2 + 1), true, 200},
		"text of escapes as base64 at the limit": {quotes(coded), true, 200},
		"text of escapes as base64 with one more byte": {quotes(coded + 1), false, 413},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := invoke(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "x/y")
				_, _ = w.Write(test.body)
			}, get("/x"))
			if response.StatusCode != test.status || response.IsBase64Encoded != test.base64 {
				t.Fatalf("%d base64 %t, want %d %t",
					response.StatusCode, response.IsBase64Encoded, test.status, test.base64)
			}
			if test.status == http.StatusOK {
				if !bytes.Equal(body, test.body) {
					t.Error("the body differs")
				}
				return
			}
			wantError(t, response, body, http.StatusRequestEntityTooLarge, "ask for less")
		})
	}
}

func wantError(t *testing.T, response events.APIGatewayProxyResponse, body []byte, status int, message string) {
	t.Helper()
	var e problem.Error
	if err := json.Unmarshal(body, &e); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	id := http.Header(response.MultiValueHeaders).Get("X-Request-Id")
	if response.StatusCode != status || e.Code != status || !strings.Contains(e.Message, message) {
		t.Errorf("%d %s, want %d and %q", response.StatusCode, body, status, message)
	}
	if e.RequestID != id || len(id) < 8 {
		t.Errorf("%s, want the id of the header, %q", body, id)
	}
}

func TestPanicIsAnswered(t *testing.T) {
	for name, cause := range map[string]any{"a panic": "secret", "an abort": http.ErrAbortHandler} {
		t.Run(name, func(t *testing.T) {
			response, body := invoke(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Half", "done")
				_, _ = io.WriteString(w, "half an answer")
				panic(cause)
			}, get("/x"))
			wantError(t, response, body, http.StatusInternalServerError, "our side")
			if strings.Contains(string(body), "secret") || http.Header(response.MultiValueHeaders).Get("X-Half") != "" {
				t.Errorf("%s %v", body, response.MultiValueHeaders)
			}
		})
	}
}

func TestRequestIDIsFromTheGateway(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("X-Request-Id")) }
	event := get("/x")
	event.Headers = map[string]string{"x-request-id": "of-the-client"}
	if _, body := invoke(t, t.Context(), echo, event); string(body) != event.RequestContext.RequestID {
		t.Errorf("%s", body)
	}
	event.RequestContext.RequestID = ""
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "of-the-invocation"})
	if _, body := invoke(t, ctx, echo, event); string(body) != "of-the-invocation" {
		t.Errorf("%s", body)
	}
}

// TestRequestEndsBeforeTheFunction: the request times out before the gateway's limit of 29 s, so an error can be sent.
func TestRequestEndsBeforeTheFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const gateway = 29 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), gateway)
		defer cancel()
		began := time.Now()
		response, body := invoke(t, ctx, func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.WriteHeader(http.StatusGatewayTimeout)
			_, _ = io.WriteString(w, r.Context().Err().Error())
		}, get("/x"))
		if took := time.Since(began); took != gateway-grace || ctx.Err() != nil {
			t.Errorf("answered after %s", took)
		}
		if response.StatusCode != http.StatusGatewayTimeout || string(body) != "context deadline exceeded" {
			t.Errorf("%d %s", response.StatusCode, body)
		}
	})
}

func TestOtherEventsAreErrors(t *testing.T) {
	h := New(http.NotFoundHandler(), problem.WriteError, slog.New(slog.DiscardHandler))
	for name, payload := range map[string]string{
		"payload 2.0 of an HTTP API": `{"version":"2.0","rawPath":"/x","requestContext":{"http":{"method":"GET"}}}`,
		"a queue":                    `{"Records":[]}`,
		"nothing":                    `{}`,
		"not an object":              `"x"`,
		"not JSON":                   `{`,
		"a wrong type":               `{"httpMethod":7,"path":"/"}`,
		"only a method":              `{"httpMethod":"GET"}`,
	} {
		if answer, err := h.Invoke(t.Context(), []byte(payload)); err == nil {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

func TestInvalidBase64Body(t *testing.T) {
	event := get("/x")
	event.Body, event.IsBase64Encoded = "a?b", true
	response, body := invoke(t, t.Context(), func(http.ResponseWriter, *http.Request) {
		t.Error("the handler was called")
	}, event)
	wantError(t, response, body, http.StatusBadRequest, "cannot be read")
}

// TestSameAsOverHTTP: a handler receives the same request through the gateway as directly.
func TestSameAsOverHTTP(t *testing.T) {
	describe := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Header.Del("X-Request-Id")
		r.Header.Del("Content-Length")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"method":  r.Method,
			"path":    r.URL.Path,
			"escaped": r.URL.EscapedPath(),
			"host":    r.Host,
			"headers": r.Header,
			"length":  r.ContentLength,
			"body":    body,
		})
	}
	for name, raw := range map[string]string{
		"a GET": "GET /api/v4.0/data/fields HTTP/1.1\r\nHost: api.example\r\n" +
			"Accept: text/plain\r\nAccept: application/json\r\nCookie: a=1; b=2\r\n\r\n",
		"an encoded path": "GET /api/v4.0/conf/a%2Fb%20c%C3%A9/planets HTTP/1.1\r\nHost: api.example\r\n\r\n",
		"a binary body": "PUT /api/v4.0/conf/prod/planets/x HTTP/1.1\r\nHost: api.example\r\n" +
			"Content-Type: application/json\r\nContent-Length: 4\r\n\r\n\xff\x00\"\n",
		"a text body": "POST /x HTTP/1.1\r\nHost: api.example\r\n" +
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\na=b+c;%",
		"a final slash": "GET /x/ HTTP/1.1\r\nHost: api.example\r\n\r\n",
		"a HEAD":        "HEAD /x HTTP/1.1\r\nHost: api.example\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			direct := httptest.NewRecorder()
			describe(direct, readRequest(t, raw))
			var through []byte
			invoke(t, t.Context(), func(_ http.ResponseWriter, r *http.Request) {
				w := httptest.NewRecorder()
				describe(w, r)
				through = w.Body.Bytes()
			}, eventOf(t, readRequest(t, raw)))
			if !bytes.Equal(through, direct.Body.Bytes()) {
				t.Errorf("directly\n%sthrough the gateway\n%s", direct.Body, through)
			}
		})
	}
}

package lambdahttp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
)

// recorder records the response of a handler. Only the first status counts, as with net/http.
type recorder struct {
	*core.ProxyResponseWriter
	status int
}

func newRecorder() *recorder {
	return &recorder{ProxyResponseWriter: core.NewProxyResponseWriter()}
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // the gateway cannot send informational responses
		w.status = status
		w.ProxyResponseWriter.WriteHeader(status)
	}
}

func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.ProxyResponseWriter.Write(p)
}

// answer returns the JSON for the gateway. The body is text if possible and base64 otherwise. Text that is too long
// with its escapes is sent as base64. If that is too long as well, answer returns an error.
func (w *recorder) answer(method string) ([]byte, error) {
	w.WriteHeader(http.StatusOK)     // for a handler that wrote nothing
	w.Header().Del("Content-Length") // the gateway sets its own, and would rename this one
	response, err := w.GetProxyResponse()
	if err != nil {
		return nil, err
	}
	if method == http.MethodHead {
		response.Body, response.IsBase64Encoded = "", false
	}
	answer, err := encode(response)
	if err == nil && len(answer) > MaxAnswer && !response.IsBase64Encoded {
		response.Body, response.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(response.Body)), true
		answer, err = encode(response)
	}
	if err != nil {
		return nil, err
	}
	if len(answer) > MaxAnswer {
		return nil, fmt.Errorf("the answer needs %d bytes, more than the %d that can be sent: "+
			"ask for less, or accept compression (Accept-Encoding: gzip)", len(answer), MaxAnswer)
	}
	return answer, nil
}

func encode(response events.APIGatewayProxyResponse) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(response.Body) + len(response.Body)/8 + 1024)
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // escapes count toward MaxAnswer
	if err := encoder.Encode(response); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

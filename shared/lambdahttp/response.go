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

// recorder keeps what a handler answers. As with a connection, the first status counts.
type recorder struct {
	*core.ProxyResponseWriter
	status int
}

func newRecorder() *recorder {
	return &recorder{ProxyResponseWriter: core.NewProxyResponseWriter()}
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // 1xx are announcements, which the gateway cannot send
		w.status = status
		w.ProxyResponseWriter.WriteHeader(status)
	}
}

func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.ProxyResponseWriter.Write(p)
}

// answer is what Lambda carries to the gateway. Text goes as text, anything else in base64; text that would be too
// long with its escapes goes in base64, too. The error tells of an answer that is too long even so.
func (w *recorder) answer(method string) ([]byte, error) {
	w.WriteHeader(http.StatusOK)     // of a handler that said nothing
	w.Header().Del("Content-Length") // the gateway counts for itself, and would send this one under another name
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
		return nil, fmt.Errorf("the answer needs %d bytes, more than the %d that can be sent: ask for less, or accept compression (Accept-Encoding: gzip)", len(answer), MaxAnswer)
	}
	return answer, nil
}

func encode(response events.APIGatewayProxyResponse) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(response.Body) + len(response.Body)/8 + 1024)
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // what is escaped counts
	if err := encoder.Encode(response); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

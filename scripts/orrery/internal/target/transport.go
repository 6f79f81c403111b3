package target

import (
	"bytes"
	"io"
	"net/http"
)

// handlerTransport is a transport that calls a handler in this process. With it, a command uses the same API for a
// folder of data and for a server.
type handlerTransport struct{ handler http.Handler }

func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r = r.Clone(r.Context())
	r.RequestURI = r.URL.RequestURI()
	w := &memoryResponse{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(w, r)
	return &http.Response{
		Status:        http.StatusText(w.status),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.header,
		Body:          io.NopCloser(&w.body),
		ContentLength: int64(w.body.Len()),
		Request:       r,
	}, nil
}

// memoryResponse is an http.ResponseWriter that keeps the response in memory.
type memoryResponse struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

func (w *memoryResponse) Header() http.Header { return w.header }

func (w *memoryResponse) WriteHeader(status int) {
	if !w.wrote {
		w.status, w.wrote = status, true
	}
}

func (w *memoryResponse) Write(b []byte) (int, error) {
	w.wrote = true
	return w.body.Write(b)
}

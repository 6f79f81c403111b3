package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/orrery/orrery/shared/search"
)

// server serves the product's API on a loopback port.
type server struct {
	http   *http.Server
	base   string
	forget func()
}

// serve serves a handler of the API. forget is called before each question; nil: nothing is forgotten.
func serve(handler http.Handler, forget func()) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on a loopback port: %w", err)
	}
	s := &server{
		http: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute},
		base: "http://" + listener.Addr().String(), forget: forget,
	}
	go func() { _ = s.http.Serve(listener) }() // until Close; if it ends earlier, requests fail
	return s, nil
}

func (s *server) Close() error { return s.http.Close() }

// client returns a client that keeps so many connections open and uses no compression.
func (s *server) client(connections int) client {
	transport := &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}
	return client{base: s.base, http: &http.Client{Transport: transport}, forget: s.forget}
}

// withCompression returns a client that accepts compressed answers, as browsers do. They may be larger.
func (c client) withCompression() client {
	c.http = &http.Client{Transport: new(http.Transport)}
	return c
}

type client struct {
	base   string
	http   *http.Client
	key    string // "": none
	forget func() // called before each question; nil: nothing is forgotten
}

// answer is one answer of the API, with its duration and its size.
type answer struct {
	Data json.RawMessage `json:"data"`
	Meta struct {
		EngineMS     float64 `json:"engine_ms"`
		BytesScanned int64   `json:"bytes_scanned"`
		Next         string  `json:"next"`

		Estimate *search.Estimate `json:"estimate"`
	} `json:"meta"`
	took  time.Duration
	bytes int
}

// engine returns the engine's part of the time.
func (a answer) engine() time.Duration {
	return time.Duration(a.Meta.EngineMS * float64(time.Millisecond))
}

// ask sends a request and reads the whole answer. The time does not include its parsing.
func (c client) ask(ctx context.Context, r request) (answer, error) {
	target := c.base + "/api/v4.0/data/" + r.route + "?" + r.parameters.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return answer{}, err
	}
	if c.key != "" {
		req.Header.Set("X-Api-Key", c.key)
	}
	if c.forget != nil {
		c.forget()
	}
	began := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("ask %s: %w", r.route, err)
	}
	var read bytes.Buffer
	read.Grow(int(max(resp.ContentLength, 0)) + bytes.MinRead)
	_, err = read.ReadFrom(resp.Body)
	took := time.Since(began)
	body := read.Bytes()
	if closing := resp.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return answer{}, fmt.Errorf("read the answer of %s: %w", r.route, err)
	}
	if resp.StatusCode != http.StatusOK {
		return answer{}, &statusError{r.route, resp.StatusCode, string(body)}
	}
	a := answer{took: took, bytes: len(body)}
	if err := json.Unmarshal(body, &a); err != nil {
		return answer{}, fmt.Errorf("read the answer of %s: %w", r.route, err)
	}
	return a, nil
}

// request is a request to the API.
type request struct {
	route      string
	parameters url.Values
}

func newRequest(route, filters string, parameters ...string) request {
	r := request{route: route, parameters: url.Values{"filters": {filters}}}
	for i := 0; i < len(parameters); i += 2 {
		r.parameters.Set(parameters[i], parameters[i+1])
	}
	return r
}

// statusError is an answer that is an error.
type statusError struct {
	route  string
	status int
	body   string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("ask %s: status %d: %.500s", e.route, e.status, e.body)
}

// overLimit reports whether the question exceeds a limit of the product.
func (e *statusError) overLimit() bool { return e.status == http.StatusUnprocessableEntity }

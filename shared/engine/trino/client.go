package trino

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/engine"
)

// Config names the cluster, the user and the tables.
type Config struct {
	URL      string // of the coordinator: https://trino.example:8443
	Catalog  string // of the Hive connector
	Schema   string // that holds the two tables
	User     string
	Password string // "": none is sent; needs https

	HTTP  *http.Client // nil: http.DefaultClient
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error // nil: real time; ends with ctx, returning its error
}

// Client speaks Trino's protocol: a statement is posted, and its answer read page by page at the address that each
// page gives for the next one (trino.io/docs/current/develop/client-protocol.html).
type Client struct {
	Config
	base *url.URL
}

// Connect checks the configuration and reports all mistakes at once. It sends no request to the cluster.
func Connect(c Config) (*Client, error) {
	var mistakes []error
	for _, part := range []struct {
		name string
		set  bool
	}{
		{"Catalog", c.Catalog != ""}, {"Schema", c.Schema != ""}, {"User", c.User != ""}, {"Now", c.Now != nil},
	} {
		if !part.set {
			mistakes = append(mistakes, fmt.Errorf("trino: Config.%s is not set", part.name))
		}
	}
	base, err := url.Parse(c.URL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		mistakes = append(mistakes, errors.New("the address of the Trino cluster is no URL; write it like https://trino.example:8443"))
	case base.User != nil:
		mistakes = append(mistakes, errors.New("the address of the Trino cluster holds a user or a password; they have places of their own"))
	case c.Password != "" && base.Scheme != "https":
		mistakes = append(mistakes, errors.New("a password for Trino is sent over https only; give the cluster's https address"))
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	return &Client{Config: c, base: base}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// page is what the cluster answers to every request about a statement.
type page struct {
	ID      string
	NextURI string `json:"nextUri"`
	Columns []struct{ Name string }
	Data    [][]any
	Error   *clusterError
	Stats   struct {
		QueuedTimeMillis, ElapsedTimeMillis, ProcessedRows, PhysicalInputBytes int64
	}
}

// statement is one that runs on the cluster.
type statement struct {
	client   *Client
	settings []string
	id       string
	page     page
	at       int // rows of the page read
}

// begin posts a statement, with settings of its session. It must be ended.
func (c *Client) begin(ctx context.Context, sql string, settings ...string) (*statement, error) {
	s := &statement{client: c, settings: settings}
	if err := s.read(ctx, http.MethodPost, c.base.String()+"/v1/statement", sql); err != nil {
		return nil, err
	}
	return s, nil
}

// columns are the names of the result's columns.
func (s *statement) columns(ctx context.Context) ([]string, error) {
	for s.page.Columns == nil && s.page.NextURI != "" {
		if err := s.read(ctx, http.MethodGet, s.page.NextURI, ""); err != nil {
			return nil, err
		}
	}
	names := make([]string, len(s.page.Columns))
	for i, c := range s.page.Columns {
		names[i] = c.Name
	}
	return names, nil
}

// row is the next row as texts, nil for NULL; io.EOF after the last one.
func (s *statement) row(ctx context.Context) ([]*string, error) {
	for s.at == len(s.page.Data) {
		if s.page.NextURI == "" {
			return nil, io.EOF
		}
		if err := s.read(ctx, http.MethodGet, s.page.NextURI, ""); err != nil {
			return nil, err
		}
	}
	s.at++
	return texts(s.page.Data[s.at-1])
}

// texts are cells as Athena prints them.
func texts(row []any) ([]*string, error) {
	out := make([]*string, len(row))
	for i, cell := range row {
		var text string
		switch cell := cell.(type) {
		case nil:
			continue
		case string:
			text = cell
		case json.Number:
			text = cell.String()
		case bool:
			text = fmt.Sprint(cell)
		default:
			return nil, fmt.Errorf("cell %d is a %T, which has no text", i+1, cell)
		}
		out[i] = &text
	}
	return out, nil
}

// Query runs a statement and reads its result, which should be small: cells are texts, nil for NULL.
func (c *Client) Query(ctx context.Context, sql string) (table [][]*string, err error) {
	err = c.again(ctx, func() error {
		s, err := c.begin(ctx, sql)
		if err != nil {
			return err
		}
		defer s.end(ctx)
		for table = nil; ; {
			row, err := s.row(ctx)
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
			table = append(table, row)
		}
	})
	return table, err
}

// cost is what the statement took, once all rows are read.
func (s *statement) cost() engine.Cost {
	stats := s.page.Stats
	queued := time.Duration(stats.QueuedTimeMillis) * time.Millisecond
	return engine.Cost{
		BytesScanned:   stats.PhysicalInputBytes,
		RowsConsidered: stats.ProcessedRows,
		Queue:          queued,
		Engine:         time.Duration(stats.ElapsedTimeMillis)*time.Millisecond - queued,
	}
}

// endTime is how long cancelling may take after the caller is gone.
const endTime = 2 * time.Second

// end cancels what still runs. Nobody can act on a cancellation that fails: the cluster drops statements whose pages
// nobody fetches.
func (s *statement) end(ctx context.Context) {
	if s.page.NextURI == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if response, err := s.client.send(ctx, http.MethodDelete, s.page.NextURI, "", nil); err == nil {
		_ = response.Body.Close()
	}
}

// Waits between tries: of a request that the cluster was too busy for, and of a statement it could not serve.
var (
	requestWaits   = []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}
	statementWaits = []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}
)

// again tries as long as the failure is one of the moment.
func (c *Client) again(ctx context.Context, try func() error) error {
	for _, wait := range statementWaits {
		err := try()
		if !passing(err) {
			return err
		}
		if sleeping := c.Sleep(ctx, wait); sleeping != nil {
			return errors.Join(err, sleeping)
		}
	}
	return try()
}

// read fetches a page. Fetching one again gives the same page, so that requests can be repeated.
func (s *statement) read(ctx context.Context, method, address, body string) error {
	if err := s.client.ours(address); err != nil {
		return err
	}
	for try := 0; ; try++ {
		next, err := s.client.fetch(ctx, method, address, body, s.settings)
		if err == nil {
			s.id, s.page, s.at = next.ID, next, 0
			if next.Error != nil {
				return fmt.Errorf("query %s: %w", next.ID, next.Error)
			}
			return nil
		}
		var busy *busyError
		if !errors.As(err, &busy) || try == len(requestWaits) {
			return err
		}
		if sleeping := s.client.Sleep(ctx, requestWaits[try]); sleeping != nil {
			return errors.Join(err, sleeping)
		}
	}
}

// ours refuses an address that another host gave or is: credentials go to the cluster alone.
func (c *Client) ours(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("trino answers with an address that is none: %w", err)
	}
	if u.Host != c.base.Host || u.Scheme != c.base.Scheme {
		return fmt.Errorf("trino is asked at %s://%s and answers that it goes on at %s://%s; behind a proxy, set http-server.process-forwarded=true on the coordinator",
			c.base.Scheme, c.base.Host, u.Scheme, u.Host)
	}
	return nil
}

// fetch makes one request. A *busyError is a failure of the moment.
func (c *Client) fetch(ctx context.Context, method, address, body string, settings []string) (page, error) {
	response, err := c.send(ctx, method, address, body, settings)
	if err != nil {
		if ctx.Err() != nil {
			return page{}, err
		}
		return page{}, &busyError{err}
	}
	defer func() { _ = response.Body.Close() }() // only read
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return page{}, &busyError{fmt.Errorf("trino answers %s", response.Status)}
	default:
		text, _ := io.ReadAll(io.LimitReader(response.Body, 300)) // as far as it came
		return page{}, fmt.Errorf("trino answers %s: %s", response.Status, strings.TrimSpace(string(text)))
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		if ctx.Err() != nil {
			return page{}, err
		}
		return page{}, &busyError{fmt.Errorf("read trino's answer: %w", err)}
	}
	var p page
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // 64-bit integers stay exact
	if err := decoder.Decode(&p); err != nil {
		return page{}, fmt.Errorf("trino's answer: %w", err)
	}
	return p, nil
}

// send makes one request with everything a session is.
func (c *Client) send(ctx context.Context, method, address, body string, settings []string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Trino-User", c.User)
	request.Header.Set("X-Trino-Source", "orrery")
	request.Header.Set("X-Trino-Catalog", c.Catalog)
	request.Header.Set("X-Trino-Schema", c.Schema)
	if deadline, ok := ctx.Deadline(); ok && method == http.MethodPost {
		// Should cancelling be lost, the cluster ends the statement itself.
		seconds := max(1, int(deadline.Sub(c.Now()).Seconds())+1)
		request.Header.Add("X-Trino-Session", fmt.Sprintf("query_max_run_time=%ds", seconds))
	}
	if method == http.MethodPost {
		for _, setting := range settings {
			request.Header.Add("X-Trino-Session", setting)
		}
	}
	if c.Password != "" {
		request.SetBasicAuth(c.User, c.Password)
	}
	return c.HTTP.Do(request)
}

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
	"github.com/orrery/orrery/shared/pause"
)

// Config is the configuration of a Client: the cluster, the user and the tables.
type Config struct {
	URL      string // of the coordinator: https://trino.example:8443
	Catalog  string // of the Hive connector
	Schema   string // of the two tables
	User     string
	Password string // requires https; "": the client sends no password

	HTTP  *http.Client // nil: http.DefaultClient
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error // returns ctx.Err() if ctx ends; nil: real time
}

// Client implements Trino's protocol. It posts a statement and reads the result page by page. Each page has the URL of
// the next one (trino.io/docs/current/develop/client-protocol.html).
type Client struct {
	Config
	base *url.URL
}

// Connect returns a client. It checks the configuration and reports all mistakes at once. It sends no request to the
// cluster.
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
		mistakes = append(mistakes, errors.New(
			"the address of the Trino cluster is not a URL; write it like https://trino.example:8443"))
	case base.User != nil:
		mistakes = append(mistakes, errors.New(
			"the address of the Trino cluster contains a user or a password; set them separately"))
	case c.Password != "" && base.Scheme != "https":
		mistakes = append(mistakes, errors.New(
			"a password for Trino is sent over https only; use the cluster's https address"))
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	if c.Sleep == nil {
		c.Sleep = pause.For
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	return &Client{Config: c, base: base}, nil
}

// page is the cluster's response to every request about a statement.
type page struct {
	ID      string
	NextURI string `json:"nextUri"`
	Columns []struct{ Name string }
	Data    [][]any
	Error   *clusterError
	Stats   struct {
		QueuedTimeMillis, ElapsedTimeMillis, PhysicalInputBytes int64
	}
}

// statement is a statement that runs on the cluster.
type statement struct {
	client   *Client
	settings []string
	id       string
	page     page
	at       int // the number of rows of the page that were read
}

// start posts a statement with the given session settings. The caller must call close.
func (c *Client) start(ctx context.Context, sql string, settings ...string) (*statement, error) {
	s := &statement{client: c, settings: settings}
	if err := s.read(ctx, http.MethodPost, c.base.String()+"/v1/statement", sql); err != nil {
		return nil, err
	}
	return s, nil
}

// columns returns the names of the result's columns.
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

// row returns the values of the next row as strings. NULL is nil. The error is io.EOF after the last row.
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

// texts returns the values of a row as Athena prints them.
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
			return nil, fmt.Errorf("cell %d has the unsupported type %T", i+1, cell)
		}
		out[i] = &text
	}
	return out, nil
}

// Query runs a statement and returns its rows, which should be few. Values are strings as Athena prints them; NULL is
// nil.
func (c *Client) Query(ctx context.Context, sql string) (table [][]*string, err error) {
	err = c.retry(ctx, func() error {
		s, err := c.start(ctx, sql)
		if err != nil {
			return err
		}
		defer s.close(ctx)
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

// cost returns the cost of the statement so far. It is complete when all rows have been read. The cluster does not
// report how many objects it reads. Its number of processed rows leaves out the row groups that it skips, and counts a
// row twice if it reads the row twice.
func (s *statement) cost() engine.Cost {
	stats := s.page.Stats
	queued := time.Duration(stats.QueuedTimeMillis) * time.Millisecond
	return engine.Cost{
		BytesScanned: stats.PhysicalInputBytes,
		Queue:        queued,
		Engine:       time.Duration(stats.ElapsedTimeMillis)*time.Millisecond - queued,
	}
}

// closeTimeout is the longest time that close may take, even if its context has ended.
const closeTimeout = 2 * time.Second

// close cancels the statement if it still runs. It ignores errors, because the cluster itself drops statements if no
// client fetches their pages.
func (s *statement) close(ctx context.Context) {
	if s.page.NextURI == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if response, err := s.client.send(ctx, http.MethodDelete, s.page.NextURI, "", nil); err == nil {
		_ = response.Body.Close()
	}
}

// The pauses between attempts: requestPauses after a busyError, statementPauses after a statement that failed
// temporarily.
var (
	requestPauses = []time.Duration{
		50 * time.Millisecond,
		100 * time.Millisecond,
		200 * time.Millisecond,
		400 * time.Millisecond,
		800 * time.Millisecond,
	}
	statementPauses = []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}
)

// retry calls try, and repeats it after a pause if it failed temporarily.
func (c *Client) retry(ctx context.Context, try func() error) error {
	for _, pause := range statementPauses {
		err := try()
		if !retryable(err) {
			return err
		}
		if interrupted := c.Sleep(ctx, pause); interrupted != nil {
			return errors.Join(err, interrupted)
		}
	}
	return try()
}

// read fetches a page. It repeats the request if the cluster is busy, because the cluster returns the same page for the
// same URL.
func (s *statement) read(ctx context.Context, method, address, body string) error {
	if err := s.client.checkHost(address); err != nil {
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
		if !errors.As(err, &busy) || try == len(requestPauses) {
			return err
		}
		if interrupted := s.client.Sleep(ctx, requestPauses[try]); interrupted != nil {
			return errors.Join(err, interrupted)
		}
	}
}

// checkHost returns an error if an address is not on the cluster's host. Credentials must not be sent to other hosts.
func (c *Client) checkHost(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("trino returns an invalid address of the next page: %w", err)
	}
	if u.Host != c.base.Host || u.Scheme != c.base.Scheme {
		return fmt.Errorf("trino at %s://%s returns %s://%s as the address of the next page; "+
			"behind a proxy, set http-server.process-forwarded=true on the coordinator",
			c.base.Scheme, c.base.Host, u.Scheme, u.Host)
	}
	return nil
}

// fetch sends one request. It returns a *busyError if the request should be repeated.
func (c *Client) fetch(ctx context.Context, method, address, body string, settings []string) (page, error) {
	response, err := c.send(ctx, method, address, body, settings)
	if err != nil {
		if ctx.Err() != nil {
			return page{}, err
		}
		return page{}, &busyError{err}
	}
	defer func() { _ = response.Body.Close() }() // only read from
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return page{}, &busyError{fmt.Errorf("trino returns status %s", response.Status)}
	default:
		text, _ := io.ReadAll(io.LimitReader(response.Body, 300)) // on an error, the part that was read is enough
		return page{}, fmt.Errorf("trino returns status %s: %s", response.Status, strings.TrimSpace(string(text)))
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		if ctx.Err() != nil {
			return page{}, err
		}
		return page{}, &busyError{fmt.Errorf("read trino's response: %w", err)}
	}
	var p page
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // 64-bit integers stay exact
	if err := decoder.Decode(&p); err != nil {
		return page{}, fmt.Errorf("decode trino's response: %w", err)
	}
	return p, nil
}

// send sends one request with the credentials and settings of the session.
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
		// The cluster ends the statement itself if the request to cancel it is lost.
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

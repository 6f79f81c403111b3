// Package importing has the routes that import logs into the records of a server on one machine. Only a server with an
// Importer has them: on AWS, logs come from a bucket.
package importing

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/keys"
)

// Importer imports logs into the records that the server answers from.
type Importer interface {
	// Imports returns the newest imports, at most limit, newest first.
	Imports(ctx context.Context, limit int) ([]ListedImport, error)
	// Sample returns what the beginning of a log shows.
	Sample(ctx context.Context, log Log) (Sample, error)
	// Import imports a log, or every log in an archive, and returns the result of each.
	Import(ctx context.Context, log Log) ([]Imported, error)
	// Forget takes the records of an import out of the data.
	Forget(ctx context.Context, id string) (Forgotten, error)
}

// Log is a log that a request brings.
type Log struct {
	Name         string
	Body         io.Reader
	Size         int64  // of the body, in bytes
	Format, Zone string // "" to detect the format, and for its own zone
	Set          []Setting
	Anyway       bool // import it even if it looks like a mistake
}

// Setting is a value for a field that records lack.
type Setting struct{ Field, Value string }

// Sample is what the beginning of a log shows.
type Sample struct {
	Log         string          `json:"log" doc:"Name of the log, or of the first log in an archive" example:"access.log"`
	Format      string          `json:"format" doc:"Format that fits the lines, as the parameter format of an import takes it" example:"combined"`
	Shown       string          `json:"format_name" doc:"The format in words" example:"combined"`
	Guessed     bool            `json:"guessed" doc:"The lines have no known format: the members of their objects were matched by their names"`
	Compression string          `json:"compression" doc:"gzip, bzip2 or zstd; empty if the log is not compressed" example:"gzip"`
	First       json.RawMessage `json:"first" doc:"The first record with its fields; null if no line of the beginning is a record"`
	From        *time.Time      `json:"from" nullable:"true" doc:"Time of the oldest record in the beginning of the log"`
	To          *time.Time      `json:"to" nullable:"true" doc:"Time of its newest record"`
	Problem     string          `json:"problem" doc:"Why the first line that is not a record is rejected; empty if there is no such line"`
}

// SampleAnswer is the answer about the beginning of a log.
type SampleAnswer struct {
	Data Sample `json:"data"`
}

// Imported is the result of importing one log.
type Imported struct {
	Log      string           `json:"log" doc:"Name of the log" example:"access.log"`
	ID       *string          `json:"id" nullable:"true" doc:"ID of the import, with which the import can be forgotten; null if nothing of the log was imported"`
	Format   string           `json:"format" doc:"The format in words" example:"combined"`
	Records  int64            `json:"records" doc:"New records"`
	Known    int64            `json:"known" doc:"Lines that an earlier import of this log has read"`
	Expired  int64            `json:"expired" doc:"Records that were left out, because records of their age are not kept"`
	Rejected map[string]int64 `json:"rejected" doc:"Lines that are not records, by reason; orrery quarantine shows them"`
	First    string           `json:"first_rejected" doc:"Number, reason and text of the first line that is not a record; empty if there is none"`
	Absent   []string         `json:"absent" doc:"The fields that no record has, among address, method, host, path and status"`
	From     *time.Time       `json:"from" nullable:"true" doc:"Time of the oldest record of the log"`
	To       *time.Time       `json:"to" nullable:"true" doc:"Time of its newest record"`
	Error    string           `json:"error" doc:"Why nothing of this log in an archive was imported; otherwise empty"`
}

// ImportedAnswer is the answer to an import.
type ImportedAnswer struct {
	Data struct {
		Results []Imported `json:"results"`
	} `json:"data"`
}

// ListedImport is an import of the past.
type ListedImport struct {
	ID       string     `json:"id"`
	Log      string     `json:"log" doc:"Name of the log"`
	Format   string     `json:"format" doc:"The format in words" example:"combined"`
	Records  int64      `json:"records"`
	Rejected int64      `json:"rejected" doc:"Lines that are not records"`
	From     *time.Time `json:"from" nullable:"true" doc:"Time of the oldest record; null if there is none"`
	To       *time.Time `json:"to" nullable:"true" doc:"Time of the newest record; null if there is none"`
	At       time.Time  `json:"at" doc:"When the log was last imported"`
}

// ImportsAnswer is the list of imports.
type ImportsAnswer struct {
	Data struct {
		Results []ListedImport `json:"results"`
	} `json:"data"`
}

// Forgotten is a forgotten import.
type Forgotten struct {
	ID      string `json:"id"`
	Log     string `json:"log" doc:"Name of the log"`
	Records int64  `json:"records" doc:"Number of records that were taken out of the data"`
}

// ForgottenAnswer is the answer to forgetting an import.
type ForgottenAnswer struct {
	Data Forgotten `json:"data"`
}

// SampleBytes is the length of the beginning of a log that shows what it is.
const SampleBytes = 1 << 20

// listed is the largest number of imports in an answer.
const listed = 1000

// The parameters of a log.
var (
	nameParam = parameter.Parameter{
		Name: "name", Required: true, Example: "access.log.gz",
		Schema: &huma.Schema{Type: "string", MinLength: new(1), MaxLength: new(maxName)},
		Doc:    "Name of the file, by which a later import recognises the log.",
	}
	formatParam = parameter.Parameter{
		Name: "format", Schema: &huma.Schema{Type: "string"}, Example: "combined",
		Doc: "A format of `orrery formats`, or the `format` of a sample; default: the first lines decide.",
	}
	zoneParam = parameter.Parameter{
		Name: "zone", Schema: &huma.Schema{Type: "string"}, Example: "Europe/Berlin",
		Doc: "Time zone for times without one; default: UTC.",
	}
	setParam = parameter.Parameter{
		Name: "set", Schema: &huma.Schema{Type: "string"}, Example: "host=www.example.com",
		Doc: "FIELD=VALUE for a field that records lack; several are on separate lines.",
	}
	anywayParam = parameter.Boolean("anyway", "Also import a log that looks like a mistake: most of its lines are no "+
		"records, or are in the data already.")
	fromPage = parameter.Parameter{
		Name: header, Required: true, Schema: &huma.Schema{Type: "string", Enum: []any{"true"}},
		Doc: "Confirms that the request is intended: a web page of another site cannot send this header.",
	}
)

// header must be part of every request that changes records or brings a log.
const header = "X-Orrery-Import"

const maxName = 255

// Routes returns the routes of an importer, or none without one.
func Routes(importer Importer) []route.Route {
	if importer == nil {
		return nil
	}
	s := &server{importer}
	log := []parameter.Parameter{nameParam, formatParam, zoneParam, setParam}
	body := func(doc string) *route.RequestBody {
		return &route.RequestBody{Doc: doc, Types: []string{content.Binary}}
	}
	bringing := slices.Concat(route.BodyErrors, []int{
		http.StatusUnprocessableEntity, http.StatusServiceUnavailable, http.StatusInsufficientStorage,
	})
	routes := []route.Route{
		{
			ID: "imports", Method: http.MethodGet, Path: "/imports", Summary: "List imports",
			Doc:     "Lists the newest imports, at most 1,000, newest first. Imports that were forgotten are left out.",
			Answers: []route.Response{{Status: http.StatusOK, Doc: "The imports.", Value: ImportsAnswer{}}},
			Errors:  []int{http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
			Handle:  s.list,
		},
		{
			ID: "import-sample", Method: http.MethodPost, Path: "/samples", Summary: "Examine a log",
			Doc: "Returns what the beginning of a log shows: its format, its first record, and the times of its " +
				"records. Nothing is imported.",
			Params: log, Headers: []parameter.Parameter{fromPage},
			Body: body("The first MiB of a log or a tar archive, or all of it, plain or compressed. A zip archive " +
				"must be whole."),
			Answers: []route.Response{{Status: http.StatusOK, Doc: "What the beginning shows.", Value: SampleAnswer{}}},
			Errors:  bringing, Handle: s.sample,
		},
		{
			ID: "import-log", Method: http.MethodPost, Path: "/imports", Summary: "Import a log",
			Doc: "Imports a log, or every log in an archive. Its lines are imported once: an import of the same log " +
				"again adds only what is new. When the request is cut off, nothing is imported. A log that looks " +
				"like a mistake is refused with a detail of the type `unconfirmed`.",
			Params: append(log, anywayParam), Headers: []parameter.Parameter{fromPage},
			Body:    body("The whole log or archive, plain or compressed."),
			Answers: []route.Response{{Status: http.StatusOK, Doc: "What was imported.", Value: ImportedAnswer{}}},
			Errors:  bringing, Handle: s.add,
		},
		{
			ID: "import-delete", Method: http.MethodDelete, Path: "/imports/{import_id}", Summary: "Forget an import",
			Doc: "Takes the records of an import out of the data, and its lines out of the quarantine. The log can " +
				"then be imported anew.",
			Headers: []parameter.Parameter{fromPage},
			Answers: []route.Response{{Status: http.StatusOK, Doc: "The import was forgotten.", Value: ForgottenAnswer{}}},
			Errors: []int{
				http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusServiceUnavailable,
				http.StatusInsufficientStorage,
			},
			Handle: s.forget,
		},
	}
	for i := range routes {
		r := &routes[i]
		r.Tag, r.Offers, r.Scope = route.ImportsTag, content.Offers, keys.DataWrite
	}
	return routes
}

type server struct{ Importer }

// list answers with the imports.
func (s *server) list(c *route.Call) error {
	if _, err := parameter.ReadQuery(c.Request.URL.RawQuery, nil); err != nil {
		return err
	}
	if err := ofAllBranches(c); err != nil {
		return err
	}
	found, err := s.Imports(c.Request.Context(), listed)
	if err != nil {
		return err
	}
	var answer ImportsAnswer
	if answer.Data.Results = found; found == nil {
		answer.Data.Results = []ListedImport{}
	}
	c.SendJSON(http.StatusOK, answer)
	return nil
}

// sample answers with what the beginning of a log shows.
func (s *server) sample(c *route.Call) error {
	return bring(c, func(ctx context.Context, log Log) error {
		found, err := s.Sample(ctx, log)
		if err == nil {
			c.SendJSON(http.StatusOK, SampleAnswer{found})
		}
		return err
	})
}

// add answers with what was imported of a log.
func (s *server) add(c *route.Call) error {
	return bring(c, func(ctx context.Context, log Log) error {
		found, err := s.Import(ctx, log)
		if err == nil {
			var answer ImportedAnswer
			answer.Data.Results = found
			c.SendJSON(http.StatusOK, answer)
		}
		return err
	})
}

// forget forgets the import in the path.
func (s *server) forget(c *route.Call) error {
	if _, err := parameter.ReadQuery(c.Request.URL.RawQuery, nil); err != nil {
		return err
	}
	if err := allowed(c); err != nil {
		return err
	}
	if err := c.NoBody(); err != nil {
		return err
	}
	found, err := s.Forget(c.Request.Context(), c.Request.PathValue("import_id"))
	if err != nil {
		return err
	}
	c.SendJSON(http.StatusOK, ForgottenAnswer{found})
	return nil
}

// allowed returns an error if the caller may not change records, or may have been led to it by another page.
func allowed(c *route.Call) error {
	if c.Request.Header.Get(header) != "true" {
		return errHeader()
	}
	return ofAllBranches(c)
}

// ofAllBranches returns an error for callers who see only some branches, because a log may have records of any.
func ofAllBranches(c *route.Call) error {
	if len(c.Caller.Branches) > 0 {
		return errBranches()
	}
	return nil
}

// bring calls take with the log that a request brings. The context of take ends when the request is cut off. The rest of
// a log that is refused is read, because browsers do not read an answer that comes before they have sent everything.
func bring(c *route.Call, take func(ctx context.Context, log Log) error) error {
	log, err := logOf(c)
	if err != nil {
		return err
	}
	if err := allowed(c); err != nil {
		return err
	}
	if _, _, err := c.BodyType(content.Binary); err != nil {
		return err
	}
	if c.Request.ContentLength < 0 {
		return errLength()
	}
	ctx, cancel := context.WithCancel(c.Request.Context())
	defer cancel()
	body := &body{Reader: c.Request.Body, control: http.NewResponseController(c.Writer), cutOff: cancel}
	log.Body, log.Size = body, c.Request.ContentLength
	err = take(ctx, log)
	switch {
	case body.failed:
		c.Abandoned = true
		return errCutOff()
	case err != nil:
		_, _ = io.Copy(io.Discard, body) // if this fails, nobody waits for the error
	}
	return err
}

// logOf reads the parameters of a request that brings a log.
func logOf(c *route.Call) (Log, error) {
	args, err := parameter.ReadQuery(c.Request.URL.RawQuery, c.Route.Params)
	if err != nil {
		return Log{}, err
	}
	log := Log{Name: args[nameParam.Name], Format: args[formatParam.Name], Zone: args[zoneParam.Name]}
	for line := range strings.Lines(args[setParam.Name]) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		field, value, ok := strings.Cut(line, "=")
		if !ok || field == "" {
			return Log{}, errSet()
		}
		log.Set = append(log.Set, Setting{field, value})
	}
	switch args[anywayParam.Name] {
	case "", "false":
	case "true":
		log.Anyway = true
	default:
		return Log{}, errAnyway()
	}
	if len(log.Name) > maxName || strings.ContainsAny(log.Name, "/\\") || log.Name != strings.ToValidUTF8(log.Name, "") ||
		strings.ContainsFunc(log.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return Log{}, errName()
	}
	return log, nil
}

// bodyWait is how long the next bytes of a log may take.
const bodyWait = time.Minute

// body is the body of a request, which may take as long as it likes as long as bytes arrive.
type body struct {
	io.Reader
	control *http.ResponseController
	cutOff  func() // called if it cannot be read to its end
	failed  bool
}

func (b *body) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(bodyWait)) // a server without deadlines waits longer
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // a wrapped io.EOF is not the end
		b.failed = true
		b.cutOff()
	}
	return n, err
}

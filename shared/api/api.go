// Package api is the HTTP surface: the data routes, the planet settings, the OpenAPI document and the page to
// try them on. README.md beside this file lists routes, parameters, errors, limits and authentication.
//
// A request takes this way: observe.go gives it an id, guard.go keeps web pages out, routes.go finds its route,
// authenticate.go finds the caller, params.go reads what is asked, a handler answers, answer.go sends the answer, and
// errors.go, which alone knows status codes, tells what went wrong.
package api

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/search"
)

// Config is what the surface is made of.
type Config struct {
	Search  Searcher     // for the data routes
	Queries Queries      // for queries that outlive their requests: what Search is; nil: none does
	Planets planet.Store // for the planets
	Keys    keys.Callers // nil: no caller needs a key, and only pages and programs of this machine are answered
	Log     *slog.Logger // one record per request
	Now     func() time.Time
	NewID   func() string // request ids; nil: random ones

	Page   fs.FS    // the interactive page: page.Files; nil: there is none
	Serves []string // operation ids of the routes answered here, the others elsewhere; nil: all of them

	Version             string      // of the program, for the OpenAPI document
	RequirePrecondition bool        // writes of planets need If-Match or If-None-Match
	Maintenance         func() bool // nil: never; while true, planets can only be read
}

// Searcher is the read path: *search.Service.
type Searcher interface {
	Search(ctx context.Context, r search.Request) (search.Result, error)
}

// New returns the handler of the configured routes. The error names every part that is missing from the Config.
func New(c Config) (http.Handler, error) {
	if missing := c.missing(); len(missing) > 0 {
		return nil, fmt.Errorf("api: not set in Config: %s", strings.Join(missing, ", "))
	}
	if c.NewID == nil {
		c.NewID = randomID
	}
	if c.Maintenance == nil {
		c.Maintenance = func() bool { return false }
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	s := &server{Config: c, mux: http.NewServeMux()}
	s.register()
	return s, nil
}

// missing lists the required fields that are not set, in the order of Config.
func (c Config) missing() []string {
	var searches, keepsPlanets bool
	for _, r := range (&server{Config: c}).routes() {
		searches = searches || r.searches && c.serves(r.id)
		keepsPlanets = keepsPlanets || r.tag == planetsTag && c.serves(r.id)
	}
	var fields []string
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"Search", searches && c.Search == nil},
		{"Planets", keepsPlanets && c.Planets == nil},
		{"Log", c.Log == nil},
		{"Now", c.Now == nil},
	} {
		if field.missing {
			fields = append(fields, field.name)
		}
	}
	return fields
}

// serves tells whether a route is answered here.
func (c Config) serves(id string) bool { return c.Serves == nil || slices.Contains(c.Serves, id) }

type server struct {
	Config
	mux     *http.ServeMux
	openapi func() []byte // the document, written when it is first asked for
	paths   []string      // of the routes without a name in braces, for did-you-mean
}

// ServeHTTP answers one request, whatever happens to it.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := s.begin(w, r)
	defer s.finish(c)
	if err := s.dispatch(c); err != nil {
		s.fail(c, err)
	}
}

// dispatch passes the request to its route. The route's handler sends its own failures, because it knows
// which media types it can answer with.
func (s *server) dispatch(c *call) error {
	if err := s.guard(c.r); err != nil {
		return err
	}
	if c.r.Method == http.MethodOptions {
		return s.options(c)
	}
	if s.pattern(c.r) == "" {
		return s.noRoute(c.r)
	}
	s.mux.ServeHTTP(c.w, c.r)
	return nil
}

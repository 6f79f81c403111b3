// Package service has the routes of the service itself: its status, metrics and health, the OpenAPI document, the
// console and the interactive page.
package service

import (
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/status"
)

// Config configures the routes of the service. api.Config describes the fields.
type Config struct {
	Status   status.Source
	NeedsKey bool // requests need a key
	Version  string
	Metrics  http.Handler
	Console  fs.FS
	Page     fs.FS

	Routes   func() []route.Route // of the whole API
	Document func() []byte        // the OpenAPI document of these
}

type server struct{ Config }

// Paths of routes that web pages of other sites may use.
const (
	HealthPath = "/healthz"
	PagePath   = "/api/" // of the interactive page
)

const (
	StatusID     = "status" // of the route of the status
	documentPath = "/openapi.json"
)

// Routes returns the routes of the service.
func Routes(c Config) []route.Route {
	s := &server{c}
	return slices.Concat([]route.Route{s.statusRoute()}, s.metricsRoutes(), []route.Route{
		{
			ID:      "health",
			Method:  http.MethodGet,
			Path:    HealthPath,
			Tag:     route.ServiceTag,
			AtRoot:  true,
			Summary: "Health check",
			Answers: []route.Response{{Status: http.StatusOK, Doc: "The service is running.", Value: Health{}}},
			Handle:  s.health,
		},
		{ID: "openapi", Method: http.MethodGet, AtRoot: true, Path: documentPath, Handle: s.document},
		{ID: "console", Method: http.MethodGet, AtRoot: true, Path: "/{$}", Handle: s.console},
		{ID: "console-file", Method: http.MethodGet, AtRoot: true, Path: "/console/{file}", Handle: s.consoleFile},
		{ID: "page-folder", Method: http.MethodGet, AtRoot: true, Path: strings.TrimSuffix(PagePath, "/"), Handle: s.pageFolder},
		{ID: "page", Method: http.MethodGet, AtRoot: true, Path: PagePath + "{$}", Handle: s.page},
		{ID: "page-file", Method: http.MethodGet, AtRoot: true, Path: "/page/{file}", Handle: s.page},
	})
}

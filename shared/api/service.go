package api

import (
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/status"
)

// ServiceConfig configures the routes of the service. api.Config describes the fields.
type ServiceConfig struct {
	Status   status.Source
	NeedsKey bool // requests need a key
	Version  string
	Metrics  http.Handler
	Console  fs.FS
	Page     fs.FS

	Routes   func() []route // of the whole API
	Document func() []byte  // the OpenAPI document of these
}

type serviceServer struct{ ServiceConfig }

// Paths of routes that web pages of other sites may use.
const (
	healthPath = "/healthz"
	pagePath   = "/api/" // of the interactive page
)

const (
	statusID     = "status" // of the route of the status
	documentPath = "/openapi.json"
)

// ServiceRoutes returns the routes of the service itself: its status, metrics and health, the OpenAPI document, the
// console and the interactive page.
func ServiceRoutes(c ServiceConfig) []route {
	s := &serviceServer{c}
	return slices.Concat([]route{s.statusRoute()}, s.metricsRoutes(), []route{
		{
			id:      "health",
			method:  http.MethodGet,
			path:    healthPath,
			tag:     serviceTag,
			atRoot:  true,
			summary: "Health check",
			answers: []response{{status: http.StatusOK, doc: "The service is running.", value: Health{}}},
			handle:  s.health,
		},
		{id: "openapi", method: http.MethodGet, atRoot: true, path: documentPath, handle: s.document},
		{id: "console", method: http.MethodGet, atRoot: true, path: "/{$}", handle: s.console},
		{id: "console-file", method: http.MethodGet, atRoot: true, path: "/console/{file}", handle: s.consoleFile},
		{id: "page-folder", method: http.MethodGet, atRoot: true, path: strings.TrimSuffix(pagePath, "/"), handle: s.pageFolder},
		{id: "page", method: http.MethodGet, atRoot: true, path: pagePath + "{$}", handle: s.page},
		{id: "page-file", method: http.MethodGet, atRoot: true, path: "/page/{file}", handle: s.page},
	})
}

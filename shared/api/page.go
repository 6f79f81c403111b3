package api

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"path"
)

// pagePolicy is strict because the page loads nothing from other hosts and has no inline code. The icons of Swagger UI
// are data URIs.
const pagePolicy = "default-src 'none'; " +
	"script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".png":  "image/png",
	".txt":  "text/plain; charset=utf-8",
}

// page serves the files of the interactive page.
func (s *server) page(c *call) error {
	if s.Page == nil {
		return errNoRoute(c.r.URL.Path, "")
	}
	name := c.r.PathValue("file")
	if name == "" {
		name = "index.html"
	}
	contentType, known := pageTypes[path.Ext(name)]
	body, err := fs.ReadFile(s.Page, name)
	if err != nil || !known {
		return errNoRoute(c.r.URL.Path, "")
	}
	c.w.Header().Set("Content-Security-Policy", pagePolicy)
	return c.sendFile(contentType, body)
}

// document serves the OpenAPI document.
func (s *server) document(c *call) error {
	return c.sendFile("application/openapi+json", s.openapi())
}

// sendFile sends a file that changes only with the program, or 304 if the client has it.
func (c *call) sendFile(contentType string, body []byte) error {
	etag := fmt.Sprintf(`"%x"`, sha256.Sum256(body))
	c.sendIfModified(answer{status: http.StatusOK, contentType: contentType, body: body, etag: etag})
	return nil
}

// health answers that the process is running.
func (s *server) health(c *call) error {
	c.sendJSON(http.StatusOK, Health{"ok"})
	return nil
}

// Health is the answer of /healthz.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

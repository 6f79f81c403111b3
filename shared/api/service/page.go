package service

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
)

// consolePolicy also forbids to make code or markup from text: the console makes all its elements one by one.
const consolePolicy = pagePolicy + "; require-trusted-types-for 'script'; trusted-types 'none'"

// pagePolicy is strict because the pages load nothing from other hosts and have no inline code. The icons of Swagger UI
// are data URIs.
const pagePolicy = "default-src 'none'; " +
	"script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".png":  "image/png",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

const consolePage = "index.html"

// console serves the page of the console.
func (s *server) console(c *route.Call) error {
	return s.consoleNamed(c, consolePage)
}

// consoleFile serves what the page of the console loads. The page itself is only at its own place, to which its links
// are relative.
func (s *server) consoleFile(c *route.Call) error {
	name := c.Request.PathValue("file")
	if name == consolePage {
		return problem.NoRoute(c.Request.URL.Path, "")
	}
	return s.consoleNamed(c, name)
}

// hashedName matches the names that have a hash of the file's contents.
var hashedName = regexp.MustCompile(`-[a-z2-7]{8}\.[a-z]+$`)

func (s *server) consoleNamed(c *route.Call, name string) error {
	contentType, body, err := fileOf(s.Console, name)
	if err != nil {
		return problem.NoRoute(c.Request.URL.Path, "")
	}
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", consolePolicy)
	if hashedName.MatchString(name) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		c.Send(route.Answer{Status: http.StatusOK, ContentType: contentType, Body: body})
		return nil
	}
	return sendFile(c, contentType, body)
}

// fileOf returns a file of a page and its type.
func fileOf(files fs.FS, name string) (contentType string, body []byte, err error) {
	contentType, known := pageTypes[path.Ext(name)]
	if files == nil || !known {
		return "", nil, fs.ErrNotExist
	}
	body, err = fs.ReadFile(files, name)
	return contentType, body, err
}

// pageFolder leads to the interactive page, whose links are relative to a folder.
func (s *server) pageFolder(c *route.Call) error {
	if s.Page == nil {
		return problem.NoRoute(c.Request.URL.Path, "")
	}
	c.Writer.Header().Set("Location", strings.TrimPrefix(PagePath, "/"))
	c.Send(route.Answer{Status: http.StatusPermanentRedirect})
	return nil
}

// page serves the files of the interactive page.
func (s *server) page(c *route.Call) error {
	name := c.Request.PathValue("file")
	if name == "" {
		name = "index.html"
	}
	contentType, body, err := fileOf(s.Page, name)
	if err != nil {
		return problem.NoRoute(c.Request.URL.Path, "")
	}
	c.Writer.Header().Set("Content-Security-Policy", pagePolicy)
	return sendFile(c, contentType, body)
}

// document serves the OpenAPI document.
func (s *server) document(c *route.Call) error {
	return sendFile(c, "application/openapi+json", s.Document())
}

// sendFile sends a file that changes only with the program, or 304 if the client has it.
func sendFile(c *route.Call, contentType string, body []byte) error {
	etag := fmt.Sprintf(`"%x"`, sha256.Sum256(body))
	c.SendIfModified(route.Answer{Status: http.StatusOK, ContentType: contentType, Body: body, ETag: etag})
	return nil
}

// health answers that the process is running.
func (s *server) health(c *route.Call) error {
	c.SendJSON(http.StatusOK, Health{"ok"})
	return nil
}

// Health is the answer of /healthz.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

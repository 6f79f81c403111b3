package api

import (
	"net/http"

	"github.com/orrery/orrery/shared/document"
)

// documentChange returns the document in the path of a write, which read returns, and the write without its text.
func (s *server) documentChange(
	c *call, read func() (document.ID, error),
) (id document.ID, change document.Change, err error) {
	if id, err = read(); err != nil {
		return document.ID{}, document.Change{}, err
	}
	if s.Maintenance() {
		return document.ID{}, document.Change{}, errMaintenance()
	}
	change, err = s.change(c)
	return id, change, err
}

// sendList sends the documents of a configuration, unless they are too large for an answer.
func (c *call) sendList(list any) error {
	body := encode(list)
	if len(body) > maxAnswer {
		return errAnswerTooLarge(len(body))
	}
	c.send(answer{status: http.StatusOK, contentType: jsonType, body: body})
	return nil
}

// sendDocument sends a version as the API shows it, or 304 if the client has it.
func (c *call) sendDocument(v document.Version, shown any) {
	c.sendIfModified(answer{status: http.StatusOK, contentType: jsonType, body: encode(shown), etag: v.ETag})
}

// sendStored answers a write with the version written, as the API shows it.
func (c *call) sendStored(v document.Version, shown any) {
	c.w.Header().Set("ETag", v.ETag)
	c.sendJSON(http.StatusOK, shown)
}

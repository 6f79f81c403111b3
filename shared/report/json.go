package report

import (
	"bytes"
	"encoding/json"
)

// Document is a report in JSON.
type Document struct {
	Report Report `json:"report" doc:"The same for the same data"`
	Run    Run    `json:"run" doc:"What the report rests on; it may differ between two reports about the same data"`
}

// JSON returns the report as a Document.
func (r Report) JSON() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(Document{r, r.Run}); err != nil {
		panic("report: a document: " + err.Error()) // texts and numbers
	}
	return b.Bytes()
}

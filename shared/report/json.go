package report

import (
	"bytes"
	"encoding/json"
	"time"
)

// Document is a report in JSON.
type Document struct {
	Notices []string `json:"notices" doc:"Sentences about what is missing"`
	Report  Report   `json:"report" doc:"The report, which is the same if the data is the same and equally complete"`
	Run     Run      `json:"run" doc:"How the report was made, which may differ between two reports about the same data"`
}

// In returns the report of a document and prints its times in zone, which must be the report's zone. Its commands read
// the address of the server from a variable.
func (d Document) In(zone *time.Location) Report {
	r := d.Report
	r.Run, r.zone = d.Run, zone
	return r
}

// JSON returns the report as a Document.
func (r Report) JSON() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(Document{append([]string{}, r.Notices()...), r, r.Run}); err != nil {
		panic("report: a document: " + err.Error()) // texts and numbers
	}
	return b.Bytes()
}

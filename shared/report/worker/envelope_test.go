package worker_test

import (
	"bytes"
	"encoding/json"
	"net/mail"
	"path"
	"testing"

	"github.com/orrery/orrery/shared/report"
)

// TestDeliveriesNameTheirRun: the report in JSON has its run, and the mail has the way to its definition.
func TestDeliveriesNameTheirRun(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	w.tick()
	run, seen := w.list("r")[0], 0
	for _, one := range w.taken {
		for _, f := range one.files {
			switch path.Ext(f.Name) {
			case ".json":
				seen++
				var d report.Document
				if err := json.Unmarshal(f.Content, &d); err != nil {
					t.Fatal(err)
				}
				if s := d.Run.Scheduled; s == nil || *s != (report.Scheduled{ID: run.ID, Config: "prod", Report: "r"}) {
					t.Errorf("%+v", s)
				}
			case ".eml":
				seen++
				m, err := mail.ReadMessage(bytes.NewReader(f.Content))
				if err != nil {
					t.Fatal(err)
				}
				if got := m.Header.Get("List-Unsubscribe"); got != "<https://orrery.example/#/reports/prod/r>" {
					t.Error(got)
				}
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d files", seen)
	}
}

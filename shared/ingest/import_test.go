package ingest

import (
	"testing"
)

func TestImportOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	report := importText(t, s, lines(0, 1500), Options{})
	if report.Records != 1500 || report.Partitions != 3 || report.Objects != 3 {
		t.Errorf("%+v", report)
	}
	t.Logf("%+v\n%s", report, tree(t, s.dir))
	if got := records(t, s); len(got) != 1500 {
		t.Error(len(got))
	}
	again := importText(t, s, lines(0, 1500), Options{})
	t.Logf("%+v", again)
	grown := importText(t, s, lines(0, 1600), Options{})
	t.Logf("%+v", grown)
	t.Log(len(rowsOf(t, s)))
}

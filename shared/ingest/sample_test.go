package ingest

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/gzipped"
)

func sampleLine(at time.Time, width int) string {
	return fmt.Sprintf(`{"processing_stage":6,"timestamp":%q,"user_agent":%q}`+"\n",
		at.Format(time.RFC3339), strings.Repeat("x", width))
}

func gzipOf(text string) string { return string(gzipped.Of([]byte(text))) }

func zstdOf(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

func sampleOf(text io.Reader, limit int64) (Sample, error) {
	log, err := OpenLog(text)
	if err != nil {
		return Sample{}, err
	}
	s, err := log.Sample(limit, Options{})
	if closing := log.Close(); err == nil {
		err = closing
	}
	return s, err
}

func TestSample(t *testing.T) {
	first := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	middle, last := first.Add(time.Hour), first.Add(2*time.Hour)
	short := sampleLine(first, 1) + sampleLine(last, 1)
	long := sampleLine(first, 1) + strings.Repeat(sampleLine(middle, 4000), 500) + sampleLine(last, 1)
	wide := sampleLine(first, 1) + sampleLine(middle, 900_000) + sampleLine(last, 900_000)
	tests := []struct {
		name, text string
		want       Sample
	}{
		{"a short log", short, Sample{Oldest: first, Newest: last}},
		{"the last line of a long log", long, Sample{Oldest: first, Newest: last}},
		{"the longest lines", wide, Sample{Oldest: first, Newest: last}},
		{
			"lines that are not in the order of time",
			sampleLine(last, 1) + sampleLine(first, 1) + sampleLine(middle, 1),
			Sample{Oldest: first, Newest: last},
		},
		{"a last line without newline", strings.TrimSuffix(short, "\n"), Sample{Oldest: first, Newest: last}},
		{"a byte order mark", "\xef\xbb\xbf" + short, Sample{Oldest: first, Newest: last}},
		{
			"a line that is not a record", short + `{"processing_stage":6,"timestamp":"never"}` + "\n",
			Sample{Oldest: first, Newest: last, Problem: "never"},
		},
		{"no record", `{"processing_stage":6,"timestamp":"never"}` + "\n", Sample{Problem: "never"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			half := len(test.text) / 2
			for form, origin := range map[string]io.Reader{
				"plain":  strings.NewReader(test.text),
				"pipe":   io.MultiReader(strings.NewReader(test.text)),
				"gzip":   strings.NewReader(gzipOf(test.text)),
				"zstd":   strings.NewReader(zstdOf(t, test.text)),
				"member": strings.NewReader(gzipOf(test.text[:half]) + gzipOf(test.text[half:])),
			} {
				got, err := sampleOf(origin, 1<<30)
				if err != nil {
					t.Fatal(err)
				}
				if first := got.First; (first == nil) != test.want.Oldest.IsZero() || first != nil && first.TsMs > got.Newest.UnixMilli() {
					t.Errorf("%s: the first record is %+v", form, first)
				}
				got.First = nil
				problem := test.want.Problem
				if !strings.Contains(got.Problem, problem) || (got.Problem == "") != (problem == "") {
					t.Errorf("%s: the problem is %q, want %q", form, got.Problem, problem)
				}
				want := test.want
				want.Format, want.Whole, want.Problem = "orrery", true, got.Problem
				want.Compression = map[string]string{"gzip": "gzip", "member": "gzip", "zstd": "zstd"}[form]
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", form, diff)
				}
			}
		})
	}
}

func TestSampleIsBounded(t *testing.T) {
	first := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	text := strings.Repeat(sampleLine(first, 4000), 1000) + sampleLine(first.Add(time.Hour), 1)
	t.Run("of a compressed log, no more than the limit is read", func(t *testing.T) {
		got, err := sampleOf(strings.NewReader(gzipOf(text)), 3_000_000)
		got.First = nil
		want := Sample{Format: "orrery", Compression: "gzip", Oldest: first, Newest: first}
		if got != want || err != nil {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	})
	t.Run("of a plain log, only the beginning and the end are read", func(t *testing.T) {
		origin := &countingSeeker{Reader: strings.NewReader(text)}
		got, err := sampleOf(origin, 1)
		got.First = nil
		want := Sample{Format: "orrery", Oldest: first, Newest: first.Add(time.Hour), Whole: true}
		if got != want || err != nil {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		if origin.read > 2*tailBytes {
			t.Errorf("%d of %d bytes were read", origin.read, len(text))
		}
	})
}

type countingSeeker struct {
	*strings.Reader
	read int
}

func (c *countingSeeker) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

func TestSampleRefuses(t *testing.T) {
	text := strings.Repeat(sampleLine(time.Unix(0, 0), 100), 1000)
	for name, test := range map[string]struct{ text, want string }{
		"an unknown format":       {"nothing\n", "known log format"},
		"a zip archive":           {"PK\x03\x04 and so on", "zip archive"},
		"a cut off gzip file":     {gzipOf(text)[:len(gzipOf(text))-20], "cut off"},
		"a damaged gzip file":     {strings.Replace(gzipOf(text), gzipOf(text)[40:44], "abcd", 1), "damaged"},
		"a zip archive in a gzip": {gzipOf("PK\x03\x04 and so on"), "zip archive, compressed with gzip"},
		"a file compressed twice": {gzipOf(gzipOf(text)), "gzip file, compressed with gzip"},
		"a cut off zstd file":     {zstdOf(t, text)[:len(zstdOf(t, text))-20], "cut off"},
		"the beginning of a gzip": {gzipOf(text)[:5], "cut off"},
		"text in UTF-16":          {"\xff\xfea\x00", "UTF-16"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sampleOf(strings.NewReader(test.text), 1<<30)
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one of kind Invalid with %q", err, test.want)
			}
		})
	}
}

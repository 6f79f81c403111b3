package main

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// TestServeMetrics scrapes a server after known requests, on the address of the API and on that of the metrics.
func TestServeMetrics(t *testing.T) {
	s := startServer(t, tourData(t), "--no-demo", "--metrics-listen", ":0")
	address := regexp.MustCompile(`"serving metrics","url":"(http://127\.0\.0\.1:\d+)/metrics"`).FindStringSubmatch(s.log.String())
	if address == nil {
		t.Fatalf("no loopback address of the metrics is printed:\n%s", s.log.String())
	}
	// Short answers are sent when their handler has ended, so the requests have been counted.
	for range 3 {
		s.results("logs", tourDay, "limit", "1", "fields", "ip")
	}
	if status, _ := s.get("/api/v4.0/data/logs", nil); status != http.StatusUnprocessableEntity {
		t.Fatalf("a request without a filter: %d", status)
	}
	own := &server{t: t, base: address[1]}
	for name, from := range map[string]*server{"its own address": own, "the address of the api": s} {
		t.Run(name, func(t *testing.T) {
			status, body := from.get("/metrics", nil)
			if status != http.StatusOK {
				t.Fatalf("%d: %s", status, body)
			}
			parser := expfmt.NewTextParser(model.UTF8Validation)
			families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			counts := map[string]float64{}
			for _, m := range families["orrery_http_requests_total"].GetMetric() {
				counts[m.GetLabel()[0].GetValue()+" "+m.GetLabel()[1].GetValue()] = m.GetCounter().GetValue()
			}
			if counts["logs 2xx"] != 3 || counts["logs 4xx"] != 1 {
				t.Errorf("requests %v", counts)
			}
			scanned := families["orrery_engine_scanned_bytes_total"].GetMetric()
			if len(scanned) != 1 || scanned[0].GetCounter().GetValue() <= 0 {
				t.Errorf("bytes %v", scanned)
			}
			if age := families["orrery_newest_record_age_seconds"].GetMetric(); len(age) != 1 ||
				age[0].GetGauge().GetValue() <= 0 {
				t.Errorf("age of the newest record: %v", age)
			}
			for _, gauge := range []string{"orrery_queries_running", "orrery_queries_waiting"} {
				if m := families[gauge].GetMetric(); len(m) != 1 || m[0].GetGauge().GetValue() != 0 {
					t.Errorf("%s: %v", gauge, m)
				}
			}
		})
	}
	t.Run("the address of the metrics has nothing else", func(t *testing.T) {
		if status, _ := own.get("/api/v4.0/data/logs", url.Values{"filters": {tourDay}}); status != http.StatusNotFound {
			t.Errorf("records: %d", status)
		}
	})
	if err := s.interrupt(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
}

func TestAddressOfMetrics(t *testing.T) {
	for address, want := range map[string]string{
		":0": "127.0.0.1:", "127.0.0.1:0": "127.0.0.1:", "": "",
	} {
		t.Run("address "+address, func(t *testing.T) {
			listener, err := (&serveCommand{Metrics: address}).listenForMetrics(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				if listener != nil {
					t.Error("without the flag, a server listens")
				}
				return
			}
			defer func() { _ = listener.Close() }() // the test is over
			if got := listener.Addr().String(); !strings.HasPrefix(got, want) {
				t.Errorf("listens on %s", got)
			}
		})
	}
	_, err := (&serveCommand{Metrics: "9464"}).listenForMetrics(t.Context())
	if err == nil || !strings.Contains(err.Error(), ":9464") {
		t.Errorf("without a colon: %v", err)
	}
}

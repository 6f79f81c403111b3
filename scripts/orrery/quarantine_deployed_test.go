package main

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// emulatedAWS answers the requests of 'quarantine': those of S3 by a server of a test, reads of the table, and
// messages.
type emulatedAWS struct {
	t     *testing.T
	s3    http.Handler
	table lakestate.Table
	sent  []string // bodies of messages
}

func (e *emulatedAWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Key struct {
			PK, SK struct{ S string }
		}
		MessageBody string
	}
	target := r.Header.Get("X-Amz-Target")
	if target == "" {
		e.s3.ServeHTTP(w, r)
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		e.t.Error(err)
	}
	answer := map[string]any{}
	switch target {
	case "DynamoDB_20120810.GetItem":
		key := lakestate.Key{Partition: request.Key.PK.S, Sort: request.Key.SK.S}
		item, err := e.table.Get(r.Context(), key)
		if err != nil {
			e.t.Error(err)
		}
		text := func(s string) any { return map[string]string{"S": s} }
		if item.Revision > 0 {
			answer["Item"] = map[string]any{
				"pk": text(key.Partition), "sk": text(key.Sort), "body": text(string(item.Body)),
				"revision": map[string]string{"N": fmt.Sprint(item.Revision)},
			}
		}
	case "AmazonSQS.SendMessage":
		e.sent = append(e.sent, request.MessageBody)
		sum := md5.Sum([]byte(request.MessageBody))
		answer["MessageId"], answer["MD5OfMessageBody"] = "1", hex.EncodeToString(sum[:])
	default:
		e.t.Errorf("unexpected request %s", target)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		e.t.Error(err)
	}
}

// TestQuarantineOfADeployment: the command lists what the functions put into quarantine as it does for a folder, and
// has lines and logs imported again.
func TestQuarantineOfADeployment(t *testing.T) {
	client := s3test.New(t, nil, "raw-logs", "lake")
	endpoint, err := url.Parse(*client.Options().BaseEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	aws := &emulatedAWS{t: t, s3: httputil.NewSingleHostReverseProxy(endpoint), table: lakestate.Over(&tabletest.Memory{})}
	server := httptest.NewServer(aws)
	t.Cleanup(server.Close)
	dir := runningDeployment(t, server.URL, map[string]string{
		"RawBucketName": "raw-logs", "LakeBucketName": "lake", "TableName": "table", "RawQueueURL": server.URL + "/raw",
		"ProjectionFrom": "2020", "HorizonDays": "35",
	})
	raw := s3.New(client, "raw-logs")
	functions, err := cloud.New(cloud.Config{
		Raw: raw, Lake: s3.New(client, "lake"), Table: aws.table, Scratch: t.TempDir(), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	const combined = `192.0.2.7 - - [01/Mar/2026:10:00:03 +0000] "GET /a HTTP/1.1" 200 512` + "\n"
	source := ""
	for key, text := range map[string]string{
		"raw/a.log": strings.Repeat(`{"processing_stage":6,"timestamp":"2026-03-01T10:00:00Z"}`+"\n",
			3) + "garbage\n" + combined,
		"raw/x.csv": "a,b\n",
	} {
		if err := raw.Put(t.Context(), key, strings.NewReader(text), blob.Always); err != nil {
			t.Fatal(err)
		}
		report, err := functions.Import(t.Context(), rawlog.Log{Key: key})
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Fatal(err)
		}
		if key == "raw/a.log" {
			source = report.Source
		}
	}
	command := func(args ...string) (stdout, stderr string) {
		t.Helper()
		stdout, stderr, code := runHere(t.Context(), "", append([]string{"quarantine", "--dir", dir}, args...)...)
		if code != exit.Done {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		return stdout, stderr
	}
	want := "import            name       reason    lines  line  example\n" +
		source + "  raw/a.log  bad_json  2      4     garbage\n" +
		"raw/x.csv         raw/x.csv  refused   0      0     the first line does not look like a known log format; name"
	if got, _ := command(); !strings.HasPrefix(got, want) {
		t.Errorf("the list is\n%s\nwant\n%s", got, want)
	}
	got, messages := command("--import", source[:6], "--format", "combined")
	if got != source+": 1 record, 1 still rejected\n" ||
		!strings.Contains(messages, "s3://raw-logs/raw/history/quarantine/"+source) {
		t.Errorf("printed %q, messages %q", got, messages)
	}
	if _, _ = command("--import", "raw/x.csv"); len(aws.sent) != 1 || !strings.Contains(aws.sent[0], "raw%2Fx.csv") ||
		strings.Contains(aws.sent[0], "orreryFormat") {
		t.Errorf("sent %q", aws.sent)
	}
	if _, _ = command("--import", "raw/x.csv", "--pattern", `(?P<timestamp>\S+)`); len(aws.sent) != 2 ||
		!strings.Contains(aws.sent[1], `"orreryFormat":"pattern:(?P\u003ctimestamp\u003e\\S+)"`) {
		t.Errorf("sent %q", aws.sent)
	}
	t.Run("a log in JSON of no known format", func(t *testing.T) {
		const key = "raw/cdn log.jsonl"
		log := `{"timestamp":"2026-03-01T10:00:00","client ip":"192.0.2.7","status":200}` + "\n"
		if err := raw.Put(t.Context(), key, strings.NewReader(log), blob.Always); err != nil {
			t.Fatal(err)
		}
		if _, err := functions.Import(t.Context(), rawlog.Log{Key: key}); fault.KindOf(err) != fault.Invalid {
			t.Fatal(err)
		}
		_, messages := command()
		_, after, found := strings.Cut(messages, "this command imports it with mappings that fit:\n  ")
		want := "orrery quarantine --dir " + dir + ` --import 'raw/cdn log.jsonl' --map 'ip="client ip"'` + "\n"
		if !found || after != want {
			t.Errorf("messages %q, want %q", messages, want)
		}
		command("--import", key, "--map", `ip="client ip"`, "--zone", "Europe/Berlin")
		sent := aws.sent[len(aws.sent)-1]
		if !strings.Contains(sent, `"orreryFormat":"zone:Europe/Berlin:map:[\"ip=\\\"client ip\\\"\"]"`) {
			t.Errorf("sent %s", sent)
		}
		if _, stderr, code := runHere(t.Context(), "", "quarantine", "--dir", dir, "--import", key, "--zone", "Europe/Berlin"); code != exit.Usage {
			t.Errorf("a zone without a format: exit code %d: %s", code, stderr)
		}
	})
	list, _ := command("--json")
	var rows []rejectedRow
	if err := json.Unmarshal([]byte(list), &rows); err != nil || len(rows) != 1 || rows[0].Lines != 1 ||
		rows[0].Example != "garbage" || rows[0].Format != "orrery" {
		t.Errorf("%v, %+v", err, rows)
	}
	t.Run("keys cannot change what a terminal shows", func(t *testing.T) {
		const key = "raw/\u202e.csv"
		if err := raw.Put(t.Context(), key, strings.NewReader("a,b\n"), blob.Always); err != nil {
			t.Fatal(err)
		}
		if _, err := functions.Import(t.Context(), rawlog.Log{Key: key}); fault.KindOf(err) != fault.Invalid {
			t.Fatal(err)
		}
		if list, _ := command(); !strings.Contains(list, `raw/\u{202e}.csv`) || strings.Contains(list, "\u202e") {
			t.Errorf("the list is %q", list)
		}
	})
	t.Run("an unknown import", func(t *testing.T) {
		for _, id := range []string{"none", "raw/none.log"} {
			_, stderr, code := runHere(t.Context(), "", "quarantine", "--dir", dir, "--import", id)
			if code != exit.Failed || !strings.Contains(stderr, "there ") || !strings.Contains(stderr, id) {
				t.Errorf("%s: exit code %d: %s", id, code, stderr)
			}
		}
	})
	t.Run("a deployment without outputs", func(t *testing.T) {
		dir := runningDeployment(t, server.URL, map[string]string{"RawBucketName": "raw-logs"})
		_, stderr, code := runHere(t.Context(), "", "quarantine", "--dir", dir)
		if code != exit.Failed || !strings.Contains(stderr, "no output LakeBucketName") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	})
}

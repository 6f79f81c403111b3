package local

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/delivery/deliverytest"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/worker"
)

// reportTest is a server over a data folder with a few records of two branches, and a mail server.
type reportTest struct {
	t       *testing.T
	folder  string
	product *Product
	access  *Access
	handler http.Handler
	mails   *deliverytest.Server
	now     time.Time
}

func newReportTest(t *testing.T) *reportTest {
	t.Helper()
	folder := t.TempDir()
	s := &reportTest{t: t, folder: folder, mails: deliverytest.Start(t), now: time.Now()}
	settings := fmt.Sprintf("[mail]\nserver = %q\nfrom = \"Orrery <orrery@example.com>\"\ndomains = [\"example.com\"]\n"+
		"[destination.archive]\nfolder = \"sent\"\n", s.mails.Address)
	if err := os.WriteFile(filepath.Join(folder, destination.FileName), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	product, err := Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := product.Close(); err != nil {
			t.Error(err)
		}
	})
	var log strings.Builder
	for i, branch := range []string{"shop", "shop", "shop", "blog"} {
		fmt.Fprintf(&log, `{"processing_stage":6,"timestamp":"2026-01-01T10:00:0%dZ","branch":%q,"host":"%s.example"}`+"\n",
			i, branch, branch)
	}
	if _, err := product.Store.Import(t.Context(), "a.log", strings.NewReader(log.String()), ingest.Options{Format: "orrery"}); err != nil {
		t.Fatal(err)
	}
	s.product, s.access = product, &Access{Address: "127.0.0.1:0", Keys: OpenTestKeys(t, folder)}
	if s.handler, err = product.Handler(s.options()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *reportTest) options() ServeOptions {
	return ServeOptions{Access: s.access, Log: slog.New(slog.DiscardHandler)}
}

// key issues a key.
func (s *reportTest) key(branches ...string) (secret, id string) {
	s.t.Helper()
	secret, k, err := keys.Issue(s.t.Context(), s.access.Keys, keys.Grant{
		Name: "reports", Scopes: keys.Scopes(), Branches: branches,
	}, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	return secret, k.ID
}

// ask sends a request about the reports of configuration shop, and decodes the answer.
func (s *reportTest) ask(key, method, path, body string, answer any) {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, "http://localhost/api/v4.0/conf/shop/reports"+path, strings.NewReader(body))
	r.Header.Set("X-Api-Key", key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), answer); err != nil || w.Code/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
}

func (s *reportTest) runner() *worker.Runner {
	s.t.Helper()
	settings, err := s.product.reportSettings(s.options())
	if err != nil {
		s.t.Fatal(err)
	}
	return s.product.reportRunner(s.access, settings, slog.New(slog.DiscardHandler), func() time.Time { return s.now })
}

func (s *reportTest) tick() {
	s.t.Helper()
	if err := s.runner().Tick(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

const dailyReport = `{"period":"day","deliver":[{"mail":["ops@example.com"]},{"to":"archive"}]}`

// TestScheduledReports: a report of a key that is limited to a branch is sent by mail and to a folder, and is only about
// that branch.
func TestScheduledReports(t *testing.T) {
	s := newReportTest(t)
	key, _ := s.key("shop")
	var stored resource.ScheduledReport
	s.ask(key, "PUT", "/daily", dailyReport, &stored)
	var run resource.ReportRun
	s.ask(key, "POST", "/daily/run", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`, &run)
	s.tick()
	s.tick()
	s.ask(key, "GET", "/daily/runs/"+run.ID, "", &run)
	if run.State != runs.Delivered || run.Partial || run.Incomplete || run.Verdict == "" {
		t.Fatalf("%+v", run)
	}
	mails := s.mails.Mails()
	if len(mails) != 1 || len(mails[0].To) != 1 || mails[0].To[0] != "ops@example.com" {
		t.Fatalf("%d mails", len(mails))
	}
	m, err := mail.ReadMessage(bytes.NewReader(mails[0].Text))
	if err != nil || m.Header.Get("X-Orrery-Run") != run.ID {
		t.Errorf("%v %v", m.Header, err)
	}
	parts := strings.Join(partsOf(t, m.Header.Get("Content-Type"), m.Body), " ")
	if want := "text/plain text/html image/png text/html text/csv"; parts != want {
		t.Errorf("the mail has %s, want %s", parts, want)
	}
	files, err := filepath.Glob(filepath.Join(s.folder, "sent", "shop-daily-20260101T0000Z-"+run.ID[:8]+".*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%v %v", files, err)
	}
	text, err := os.ReadFile(files[2])
	if err != nil {
		t.Fatal(err)
	}
	var document report.Document
	if err := json.Unmarshal(text, &document); err != nil || *document.Report.Figures[0].Value != 3 {
		t.Errorf("%v requests, want those of the branch, %v", document.Report.Figures[0], err)
	}
	// Three days later, after the server was off for two of them. The data of the last day is not complete, so the
	// report waits.
	s.now = s.now.AddDate(0, 0, 3)
	s.tick()
	if n := len(s.mails.Mails()); n != 1 {
		t.Errorf("%d mails before the data is complete", n)
	}
	s.now = s.now.Add(6 * time.Hour)
	s.tick()
	var list resource.ReportRuns
	s.ask(key, "GET", "/daily/runs", "", &list)
	states := map[runs.State]int{}
	for _, run := range list.Runs {
		states[run.State]++
	}
	if states[runs.Delivered] != 2 || states[runs.Missed] < 1 || states[runs.Missed] > 2 || len(s.mails.Mails()) != 2 {
		t.Errorf("%v, %d mails", states, len(s.mails.Mails()))
	}
}

// partsOf returns the types of the parts of a mail.
func partsOf(t *testing.T, contentType string, body io.Reader) (types []string) {
	t.Helper()
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(mediaType, "multipart/") {
		if content, err := io.ReadAll(body); err != nil || len(content) == 0 {
			t.Errorf("%s: %d bytes, %v", mediaType, len(content), err)
		}
		return []string{mediaType}
	}
	for reader := multipart.NewReader(body, params["boundary"]); ; {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return types
		}
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, partsOf(t, part.Header.Get("Content-Type"), part)...)
	}
}

// TestPasswordOfMail: the password of the mail server is neither in the data folder nor in logs nor in answers, whether
// the server takes it or not.
func TestPasswordOfMail(t *testing.T) {
	const right, wrong = "correct horse", "battery staple"
	for _, place := range []string{"a file", "the environment"} {
		t.Run("in "+place, func(t *testing.T) {
			s := newReportTest(t)
			mails := deliverytest.Start(t, func(server *deliverytest.Server) { server.Password = right })
			settings := fmt.Sprintf("[mail]\nserver = %q\nfrom = \"Orrery <orrery@example.com>\"\ndomains = [\"example.com\"]\n"+
				"user = \"orrery\"\n", mails.Address)
			file := filepath.Join(t.TempDir(), "password")
			if place == "a file" {
				settings += fmt.Sprintf("password-file = %q\n", file)
			}
			give := func(password string) {
				if place == "the environment" {
					t.Setenv("ORRERY_MAIL_PASSWORD", password)
				} else if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			give(wrong)
			if err := os.WriteFile(filepath.Join(s.folder, destination.FileName), []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			everything := slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})
			options := ServeOptions{Access: s.access, Log: slog.New(everything)}
			var err error
			if s.handler, err = s.product.Handler(options); err != nil {
				t.Fatal(err)
			}
			tick := func() {
				read, err := s.product.reportSettings(options)
				if err != nil {
					t.Fatal(err)
				}
				r := s.product.reportRunner(s.access, read, options.Log, func() time.Time { return s.now })
				if err := r.Tick(t.Context()); err != nil {
					t.Error(err)
				}
			}
			key, _ := s.key()
			var answers [5]json.RawMessage
			later := s.now.UTC().Add(12 * time.Hour).Format("15:04") // so that only the run below is due
			s.ask(key, "PUT", "/daily", `{"period":"day","at":"`+later+`","deliver":[{"mail":["ops@example.com"]}]}`, &answers[0])
			s.ask(key, "POST", "/daily/run", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`, &answers[1])
			tick()
			s.ask(key, "GET", "/daily/runs", "", &answers[2])
			give(right)
			s.now = s.now.Add(time.Minute)
			tick()
			s.ask(key, "GET", "/daily/runs", "", &answers[3])
			s.ask(key, "GET", "/daily", "", &answers[4])
			if got := mails.Mails(); len(got) != 1 || got[0].User != "orrery" || !strings.Contains(string(answers[2]), "535") {
				t.Fatalf("%d mails; the run after the wrong password: %s", len(got), answers[2])
			}
			places := map[string][]byte{"the log": log.Bytes(), "the mail": mails.Mails()[0].Text}
			for i, a := range answers {
				places[fmt.Sprintf("answer %d", i)] = a
			}
			err = filepath.WalkDir(s.folder, func(path string, entry os.DirEntry, err error) error {
				if err == nil && entry.Type().IsRegular() {
					places[path], err = os.ReadFile(path)
				}
				if errors.Is(err, fs.ErrNotExist) { // SQLite removes files beside its databases
					return nil
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{destination.FileName, documentsFile, runsFile, keysFile} {
				if len(places[filepath.Join(s.folder, name)]) == 0 {
					t.Errorf("%s was not looked at", name)
				}
			}
			for _, password := range []string{right, wrong} {
				plain := base64.StdEncoding.EncodeToString([]byte("\x00orrery\x00" + password)) // as SMTP sends it
				for name, text := range places {
					for _, form := range []string{password, plain, url.QueryEscape(password)} {
						if bytes.Contains(text, []byte(form)) {
							t.Errorf("%s has %q", name, form)
						}
					}
				}
			}
		})
	}
}

// TestMaxBytesOfKeysOfBranches: what the questions of a report read is rounded up once for a key that is limited to
// branches, so that a report about little data stays below max_bytes.
func TestMaxBytesOfKeysOfBranches(t *testing.T) {
	s := newReportTest(t)
	key, _ := s.key("shop")
	var stored resource.ScheduledReport
	s.ask(key, "PUT", "/daily", `{"period":"day","max_bytes":10000000,"deliver":[{"to":"archive"}]}`, &stored)
	var run resource.ReportRun
	s.ask(key, "POST", "/daily/run", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`, &run)
	s.tick()
	s.ask(key, "GET", "/daily/runs/"+run.ID, "", &run)
	if run.State != runs.Delivered || run.Partial {
		t.Errorf("%+v", run)
	}
}

func TestReportsOfRevokedKeysArePaused(t *testing.T) {
	s := newReportTest(t)
	key, id := s.key()
	var stored resource.ScheduledReport
	s.ask(key, "PUT", "/daily", dailyReport, &stored)
	if _, err := keys.Revoke(t.Context(), s.access.Keys, id, time.Now()); err != nil {
		t.Fatal(err)
	}
	s.tick()
	other, _ := s.key()
	s.ask(other, "GET", "/daily", "", &stored)
	if !stored.Paused || !strings.Contains(stored.Reason, "the key "+id+" (reports) that wrote it is revoked since") || stored.By != "orrery" {
		t.Errorf("%+v", stored)
	}
	s.now = s.now.AddDate(0, 0, 3)
	s.tick()
	if n := len(s.mails.Mails()); n > 0 {
		t.Errorf("%d mails", n)
	}
}

func TestWhyKeysAreUnusable(t *testing.T) {
	s := newReportTest(t)
	_, id := s.key()
	now := time.Now()
	_, expiring, err := keys.Issue(t.Context(), s.access.Keys, keys.Grant{
		Name: "soon", Scopes: keys.Scopes(), Expires: now.Add(time.Hour),
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	access := Access{Keys: s.access.Keys, APIKey: "operator"}
	for _, test := range []struct {
		rule, id string
		at       time.Time
		want     string
	}{
		{"a usable key", id, now, ""},
		{"no key was needed", "", now, ""},
		{"the key of the operator", keys.IDOf(keys.HashOf("operator")), now, ""},
		{"an earlier key of the operator", keys.IDOf(keys.HashOf("earlier")), now, "is not known any more"},
		{"before it expires", expiring.ID, now, ""},
		{"after it has expired", expiring.ID, now.Add(2 * time.Hour), "(soon) that wrote it is expired since"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			got, err := access.whyUnusable(t.Context(), test.id, test.at)
			if err != nil || !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("%q %v", got, err)
			}
		})
	}
	if _, err := (Access{Keys: brokenKeys{}}).whyUnusable(t.Context(), id, now); err == nil {
		t.Error("a store that cannot be read is no error")
	}
}

// TestExposedSecrets: a server that starts warns of files with secrets that every user may read.
func TestExposedSecrets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	s := newReportTest(t)
	files := map[string]os.FileMode{"password": 0o644, "slack": 0o600, "webhook": 0o640, "signing": 0o604}
	for name, mode := range files {
		file := filepath.Join(s.folder, name)
		if err := os.WriteFile(file, []byte("https://hooks.example\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	const settings = `[mail]
server = "localhost:25"
from = "orrery@example.com"
domains = ["example.com"]
user = "orrery"
password-file = "password"
[destination.chat]
slack-url-file = "slack"
[destination.hook]
webhook-url-file = "webhook"
webhook-secret-file = "signing"
[destination.other]
webhook-url-file = "none"
`
	if err := os.WriteFile(filepath.Join(s.folder, destination.FileName), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if _, err := s.product.ReportRunner(ServeOptions{Access: s.access, Log: slog.New(slog.NewTextHandler(&log, nil))}, time.Now); err != nil {
		t.Fatal(err)
	}
	for name, mode := range files {
		if warned := strings.Contains(log.String(), "file="+filepath.Join(s.folder, name)); warned != (mode&0o004 != 0) {
			t.Errorf("%s with mode %o: warned %v", name, mode, warned)
		}
	}
}

func TestRunnerNeedsSettings(t *testing.T) {
	s := newReportTest(t)
	if r, err := s.product.ReportRunner(s.options(), time.Now); r == nil || err != nil {
		t.Errorf("%v %v", r, err)
	}
	public := s.options()
	public.Address = "https://public.example"
	for settings, want := range map[string]string{"": "https://public.example", "[reports]\nlink = \"https://own.example\"\n": "https://own.example"} {
		if err := os.WriteFile(filepath.Join(s.folder, destination.FileName), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := s.product.ReportRunner(public, time.Now); err != nil || r.Settings.Link != want {
			t.Errorf("the links of reports lead to %s, %v", r.Settings.Link, err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.folder, destination.FileName), []byte("[mail]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.product.ReportRunner(s.options(), time.Now); err == nil || !strings.Contains(err.Error(), "mail.server") {
		t.Errorf("%v", err)
	}
	if r, err := (&Product{}).ReportRunner(ServeOptions{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, time.Now); r != nil || err != nil {
		t.Errorf("a read-only folder: %v %v", r, err)
	}
}

//go:build unix

package localaws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// checkout creates a checkout with fake scripts. A step fails or hangs if DIR/fails or DIR/hangs names it. DIR/pids
// lists the processes that the scripts start.
func checkout(t *testing.T) (root, dir string) {
	t.Helper()
	root, dir = t.TempDir(), t.TempDir()
	step := `#!/bin/sh
step() {
	[ "$(cat "$RUN/fails" 2>/dev/null)" != "$1" ] || exit 1
	[ "$(cat "$RUN/hangs" 2>/dev/null)" = "$1" ] || return 0
	sleep 1000 &
	echo "$$ $!" >>"$RUN/pids"
	echo here >"$RUN/hung"
	wait
}
`
	server := step + `
name=$(basename "$0" .sh)
case $1 in
start)
	mkdir -p "$2"
	sleep 1000 </dev/null >/dev/null 2>&1 &
	echo $! >"$2/pid"
	echo $! >>"$RUN/pids"
	step "$name"
	echo "$ORRERY_STATE" >>"$RUN/states"
	echo "$FAKE_AWS"
	;;
stop)
	[ -f "$2/pid" ] || exit 0
	kill "$(cat "$2/pid")"
	rm "$2/pid"
	;;
esac
`
	files := map[string]string{
		"cdk.json":                      "{}",
		"scripts/build.sh":              step + "step build\nmkdir -p .build/$2\necho zips >.build/$2/made\n",
		"infra/main.go":                 "package main\n\nfunc main() {}\n",
		"scripts/servers/localstack.sh": server,
		"scripts/servers/trino.sh":      server,
		"scripts/cdk.sh": step + `step "$1"
echo "$@" >>"$RUN/deployments"
echo '{"orrery-data":{"LakeBucketName":"lake"}}' >"$RUN/outputs.json.new"
mkdir -p "$RUN/cdk.out"
echo '{}' >"$RUN/cdk.out/manifest.json"
[ -f "$RUN/no template" ] || echo '{}' >"$RUN/cdk.out/orrery-data.template.json"
`,
		"go.mod": "module github.com/orrery/orrery\n",
		"scripts/servers/athenad/main.go": `package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	run := os.Getenv("RUN")
	if err := os.WriteFile(run+"/athenad.pid", []byte(fmt.Sprint(os.Getpid())), 0o600); err != nil {
		panic(err)
	}
	if text, _ := os.ReadFile(run + "/fails"); string(text) == "athenad" {
		os.Exit(1)
	}
	if text, _ := os.ReadFile(run + "/hangs"); string(text) == "athenad" {
		if err := os.WriteFile(run+"/hung", nil, 0o600); err != nil {
			panic(err)
		}
	} else {
		fmt.Println("http://127.0.0.1:2")
	}
	time.Sleep(time.Hour)
}
`,
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755))
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"localstack", "trino"} {
		if err := os.MkdirAll(filepath.Join(dir, folder, "functions"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, "item", "{}")
	t.Setenv("RUN", dir)
	t.Setenv("FAKE_AWS", fakeAWS(t, dir))
	return root, dir
}

// fakeAWS starts a server that accepts every request. It fails or hangs if DIR/fails or DIR/hangs names "bootstrap". It
// answers reads of items of DynamoDB with the item in DIR/item. At first there is none.
func fakeAWS(t *testing.T, dir string) (url string) {
	t.Helper()
	names := func(file string) bool {
		text, err := os.ReadFile(filepath.Join(dir, file))
		return err == nil && string(text) == "bootstrap"
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case names("fails"):
			w.WriteHeader(http.StatusForbidden)
		case names("hangs"):
			put(t, dir, "hung", "")
			<-r.Context().Done()
		case strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem"):
			http.ServeFile(w, r, filepath.Join(dir, "item"))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func put(t *testing.T, dir, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// checkNothingLeft checks that no process and no temporary file of the run is left.
func checkNothingLeft(t *testing.T, dir string) {
	t.Helper()
	for _, pid := range pids(t, dir) {
		if lives(pid) {
			t.Errorf("process %d is running", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "tmp-*"))
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func pids(t *testing.T, dir string) (all []int) {
	t.Helper()
	for _, file := range []string{"pids", "athenad.pid"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, pid)
		}
	}
	return all
}

// lives reports whether a process is still running after a minute. A killed process may need a moment to end.
func lives(pid int) bool {
	for range 6000 {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if errors.Is(err, fs.ErrNotExist) && syscall.Kill(pid, 0) != nil || strings.Contains(string(state), ") Z ") {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

var steps = []string{"build", "localstack", "bootstrap", "deploy", "trino", "athenad"}

func TestFailedStartLeavesNothing(t *testing.T) {
	for _, step := range append(steps, "no template") {
		t.Run(step, func(t *testing.T) {
			root, dir := checkout(t)
			put(t, dir, "fails", step)
			if step == "no template" {
				put(t, dir, step, "")
			}
			if _, err := Start(t.Context(), Options{Root: root, Dir: dir, Output: io.Discard}); err == nil {
				t.Error("no error")
			}
			checkNothingLeft(t, dir)
		})
	}
}

func TestInterruptedStartLeavesNothing(t *testing.T) {
	for _, step := range steps {
		t.Run(step, func(t *testing.T) {
			root, dir := checkout(t)
			put(t, dir, "hangs", step)
			ctx, interrupt := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := Start(ctx, Options{Root: root, Dir: dir, Output: io.Discard})
				ended <- err
			}()
			for hung := false; !hung; {
				select {
				case err := <-ended:
					t.Fatalf("the step did not hang: %v", err)
				case <-time.After(10 * time.Millisecond):
					_, err := os.Stat(filepath.Join(dir, "hung"))
					hung = err == nil
				}
			}
			interrupt()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			checkNothingLeft(t, dir)
		})
	}
}

func TestOneDeploymentPerFolder(t *testing.T) {
	root, dir := checkout(t)
	options := Options{Root: root, Dir: dir, Output: io.Discard}
	d, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(t.Context(), options)
	if err == nil || !strings.Contains(err.Error(), "another deployment is running in "+dir) {
		t.Error(err)
	}
	for _, pid := range pids(t, dir) {
		if syscall.Kill(pid, 0) != nil {
			t.Errorf("process %d of the first was stopped", pid)
		}
	}
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	checkNothingLeft(t, dir)
}

func TestStartStopsServersOfAKilledRun(t *testing.T) {
	root, dir := checkout(t)
	options := Options{Root: root, Dir: dir, Output: io.Discard}
	killed, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.lock.Release(); err != nil { // as the end of its process does
		t.Fatal(err)
	}
	before := pids(t, dir)[:2] // of the two servers
	d, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range before {
		if lives(pid) {
			t.Errorf("server %d is running", pid)
		}
	}
	killed.stopAthena() // it is not among the servers of the folder
	if err := errors.Join(d.Stop(), os.RemoveAll(killed.temporary)); err != nil {
		t.Error(err)
	}
	checkNothingLeft(t, dir)
}

func TestLeftoversOfAKilledRun(t *testing.T) {
	root, dir := checkout(t)
	if err := os.MkdirAll(filepath.Join(dir, "tmp-old", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "deployment.json", "{}")
	put(t, dir, "fails", "build")
	if _, err := Start(t.Context(), Options{Root: root, Dir: dir, Output: io.Discard}); err == nil {
		t.Error("no error")
	}
	checkNothingLeft(t, dir)
	if _, err := os.Stat(connectionFile(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deployment.json: %v", err)
	}
}

func TestStartAgain(t *testing.T) {
	root, dir := checkout(t)
	start := func(years int) {
		t.Helper()
		d, err := Start(t.Context(), Options{Root: root, Dir: dir, FromYear: years})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Publish("orr_a"); err != nil {
			t.Error(err)
		}
		if c, err := ReadConnection(dir); err != nil || c.URL != d.API || c.Outputs["LakeBucketName"] != "lake" {
			t.Errorf("%+v %v", c, err)
		}
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
		if _, err := ReadConnection(dir); !errors.Is(err, ErrNotRunning) {
			t.Errorf("after the end: %v, want ErrNotRunning", err)
		}
	}
	start(2020)
	start(2020)
	start(2021)
	put(t, root, "infra/more.go", "package main\n\nvar _ = 1\n")
	start(2021)
	put(t, root, "scripts/build.sh", "#!/bin/sh\necho other zips >.build/$2/made\n")
	start(2021)
	start(2021)
	var kept []bool
	for _, line := range lines(t, dir, "deployments") {
		kept = append(kept, strings.Contains(line, "--app "+filepath.Join(dir, "cdk.out")))
	}
	if diff := cmp.Diff([]bool{false, true, false, false, false, true}, kept); diff != "" {
		t.Errorf("which deployments used the templates of the last one (-want +got):\n%s", diff)
	}
	for _, state := range lines(t, dir, "states") {
		if state != "" && state != filepath.Join(dir, "state") { // Trino has none
			t.Errorf("the state is in %s", state)
		}
	}
	checkNothingLeft(t, dir)
}

// TestFirstYearAfterTheOldestRecord: a start is refused if the tables would leave out records of an earlier run.
func TestFirstYearAfterTheOldestRecord(t *testing.T) {
	root, dir := checkout(t)
	oldest := time.Date(2019, 12, 31, 23, 30, 0, 0, time.UTC).UnixMilli()
	records := fmt.Sprintf(`{"Item":{"pk":{"S":"lake"},"sk":{"S":"state"},"revision":{"N":"1"},`+
		`"body":{"S":"{\"extent\":{\"min_ts_ms\":%d,\"max_ts_ms\":%d,\"rows\":2}}"}}}`, oldest, oldest+1)
	for _, test := range []struct {
		name, deployed, item string
		year                 int
		refused              bool
	}{
		{"the first start", "", records, 2020, false},
		{"the year of the oldest record", "2000", records, 2019, false},
		{"a later year", "2000", records, 2020, true},
		{"a later year of a deployment that does not report its own", "", records, 2020, true},
		{"a later year without records", "2000", "{}", 2020, false},
		{"the same year is not compared", "2020", records, 2020, false},
		{"an earlier year is not compared", "2021", records, 2020, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			put(t, dir, "item", test.item)
			err := os.Remove(filepath.Join(dir, "outputs.json"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if test.name != "the first start" {
				put(t, dir, "outputs.json", `{"orrery-data":{"TableName":"table","ProjectionFrom":"`+test.deployed+`"}}`)
			}
			d, err := Start(t.Context(), Options{Root: root, Dir: dir, Output: io.Discard, FromYear: test.year})
			if err == nil {
				err = d.Stop()
			}
			if test.refused != (err != nil) {
				t.Errorf("the start ended with %v", err)
			}
			const remedy = "begin at 2019-12-31 23:30:00 UTC, and queries of times before 2020 would fail: " +
				"start it with `orrery up --from-year 2019`"
			if test.refused && !strings.Contains(fmt.Sprint(err), remedy) {
				t.Errorf("%v does not say %q", err, remedy)
			}
			checkNothingLeft(t, dir)
		})
	}
}

func lines(t *testing.T, dir, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

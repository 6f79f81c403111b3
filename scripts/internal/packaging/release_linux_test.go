package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRelease makes the release of one platform twice, in different folders, and compares the bytes. It uses what is
// made: it installs the package, starts its service, and starts the image. It takes minutes and runs only if
// ORRERY_TEST_BUILD is set.
func TestRelease(t *testing.T) {
	if os.Getenv("ORRERY_TEST_BUILD") == "" {
		t.Skip("set ORRERY_TEST_BUILD=1 to make a release twice, install its packages and start its programs")
	}
	here := platform{"linux", runtime.GOARCH}
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	first, second := makeIn(t, top, here), makeIn(t, copyOfTree(t, top), here)
	files, again := contentsOf(t, first), contentsOf(t, second)
	name := "orrery_1.2.3_linux_" + here.arch
	t.Run("the same files twice", func(t *testing.T) {
		want := []string{
			checksumsFile, "orrery_1.2.3_" + here.arch + ".deb", "orrery_1.2.3_" + here.arch + ".rpm", "orrery_1.2.3_image.tar",
			name + ".cdx.json", name + ".tar.gz", "orrery_client-1.2.3-py3-none-any.whl",
		}
		if got := namesOf(files); !slices.Equal(got, want) {
			t.Errorf("files %q, want %q", got, want)
		}
		if !slices.Equal(namesOf(files), namesOf(again)) {
			t.Fatalf("files %q, then %q", namesOf(files), namesOf(again))
		}
		for i, f := range files {
			if !bytes.Equal(f.content, again[i].content) {
				t.Errorf("%s differs in the second release", f.name)
			}
		}
	})
	t.Run("checksums", func(t *testing.T) {
		check := exec.Command("sha256sum", "--check", "--strict", checksumsFile)
		check.Dir = first
		if output, err := check.CombinedOutput(); err != nil || strings.Count(string(output), ": OK\n") != len(files)-1 {
			t.Errorf("%v\n%s", err, output)
		}
	})
	unpacked := t.TempDir()
	for _, f := range untar(t, contentOf(t, files, name+".tar.gz"), true) {
		if err := writeBelow(filepath.Join(unpacked, f.name), f.content, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("the archive", func(t *testing.T) { checkArchive(t, filepath.Join(unpacked, name)) })
	t.Run("the parts", func(t *testing.T) { checkParts(t, contentOf(t, files, name+".cdx.json")) })
	next := nextPackages(t, top, here, filepath.Join(unpacked, name))
	for kind, check := range map[string]func(t *testing.T, first, next string){"deb": checkDeb, "rpm": checkRPM} {
		t.Run("the "+kind, func(t *testing.T) {
			end := "_" + here.arch + "." + kind
			check(t, filepath.Join(first, "orrery_1.2.3"+end), filepath.Join(next, "orrery_1.2.4"+end))
		})
	}
	t.Run("the image", func(t *testing.T) { checkImage(t, contentOf(t, files, "orrery_1.2.3_image.tar")) })
}

// makeIn makes the release 1.2.3 of a platform in a folder with the source, and returns the folder of its files.
func makeIn(t *testing.T, source string, p platform) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "release")
	script := exec.Command("bash", "scripts/package.sh", "1.2.3", "--platform", p.String(), "--out", out)
	script.Dir, script.Env = source, append(os.Environ(), "TZ=Asia/Tokyo", "GOFLAGS=-tags=other")
	if output, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return out
}

// copyOfTree returns a folder with the files that a release needs, outside a repository.
func copyOfTree(t *testing.T, top string) string {
	t.Helper()
	to := t.TempDir()
	for _, folder := range []string{"events", "functions", "infra", "shared", "scripts"} {
		if err := os.CopyFS(filepath.Join(to, folder), os.DirFS(filepath.Join(top, folder))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"cdk.json", "go.mod", "go.sum", "LICENSE"} {
		content, err := os.ReadFile(filepath.Join(top, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// checkArchive checks an unpacked archive: its files, and the versions that its program states.
func checkArchive(t *testing.T, folder string) {
	for _, part := range []struct{ name, text string }{
		{"README.md", "# Orrery"},
		{"CHANGELOG.md", "# Changes"},
		{"LICENSE", "Apache License"},
		{licencesFile, "Redistribution and use in source and binary forms"},
		{licencesFile, "modernc.org/sqlite"},
		{licencesFile, "Preact"},
		{"completions/orrery.bash", "complete -F _orrery orrery"},
		{"completions/orrery.fish", "complete -c orrery"},
		{"completions/_orrery", "#compdef orrery"},
		{"doc/scripts/orrery/PRODUCTION.md", "](../README.md#keys)"},
		{"doc/scripts/README.md", "## Keys"},
		{"man/man1/orrery.1", "Orrery 1.2.3"},
		{"man/man1/orrery-serve.1", `\-\-watch`},
	} {
		if text, err := os.ReadFile(filepath.Join(folder, part.name)); err != nil || !strings.Contains(string(text), part.text) {
			t.Errorf("%s lacks %q: %v", part.name, part.text, err)
		}
	}
	program := filepath.Join(folder, "orrery")
	if info, err := os.Stat(program); err != nil || info.Mode().Perm() != 0o755 || info.Size() > mostBytes {
		t.Errorf("%v, %v", info, err)
	}
	data := t.TempDir()
	day := []string{"--records", "10", "--from", "2026-01-01", "--to", "2026-01-02"}
	generate := exec.Command(program, append([]string{"generate", "--data", data}, day...)...)
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"version"}, {"--version"}, {"status", "--data", data, "--format", "table"}} {
		out, err := exec.Command(program, args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "1.2.3") {
			t.Errorf("orrery %s printed %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// checkParts checks the list of the modules in a program.
func checkParts(t *testing.T, list []byte) {
	var bom struct {
		Metadata   struct{ Component struct{ Version string } }
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(list, &bom); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, c := range bom.Components {
		parts = append(parts, c.Name)
	}
	if bom.Metadata.Component.Version != "v1.2.3" || !slices.Contains(parts, "modernc.org/sqlite") ||
		slices.ContainsFunc(parts, func(name string) bool { return strings.Contains(name, "duckdb") }) {
		t.Errorf("%+v\n%q", bom.Metadata, parts)
	}
}

// system is the root folder of another system, in which a package is installed without changing this one.
type system struct {
	t    *testing.T
	root string
}

// newSystem returns a system with some folders.
func newSystem(t *testing.T, folders ...string) system {
	t.Helper()
	s := system{t, filepath.Join(t.TempDir(), "root")}
	for _, folder := range append(folders, "etc", "var/log") {
		if err := os.MkdirAll(filepath.Join(s.root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// dpkg runs dpkg on the system. Scripts of packages get its folder in DPKG_ROOT.
func (s system) dpkg(args ...string) {
	s.t.Helper()
	command := exec.Command("dpkg", append([]string{"--root=" + s.root, "--force-script-chrootless", "--force-depends"}, args...)...)
	if output, err := command.CombinedOutput(); err != nil {
		s.t.Fatalf("dpkg %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// rpm runs rpm on the system, which lacks the packages that others depend on.
func (s system) rpm(args ...string) {
	s.t.Helper()
	command := exec.Command("rpm", append([]string{"--root=" + s.root, "--dbpath=/var/lib/rpm", "--nodeps"}, args...)...)
	if output, err := command.CombinedOutput(); err != nil || strings.Contains(string(output), "scriptlet failed") {
		s.t.Fatalf("rpm %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// copyCommand copies a command of this system with the libraries that it is linked with.
func (s system) copyCommand(name string) {
	s.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		s.t.Fatal(err)
	}
	files := []string{path}
	libraries, _ := exec.Command("ldd", path).Output() // it fails if there are none
	for word := range strings.FieldsSeq(string(libraries)) {
		if filepath.IsAbs(word) {
			files = append(files, word)
		}
	}
	for i, from := range files {
		to := from
		if i == 0 {
			to = filepath.Join("/bin", name)
		}
		content, err := os.ReadFile(from)
		if err == nil {
			err = writeBelow(filepath.Join(s.root, to), content, 0o755)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s system) read(path string) string {
	s.t.Helper()
	content, err := os.ReadFile(filepath.Join(s.root, path))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(content)
}

func (s system) has(path string) bool {
	_, err := os.Lstat(filepath.Join(s.root, path))
	return !errors.Is(err, fs.ErrNotExist)
}

// service starts the command of the installed unit as systemd does: with its variables, as its user, in the state folder.
// The process sees only the files of the system. service waits until the server answers.
func (s system) service() *server {
	s.t.Helper()
	unit := s.read("/usr/lib/systemd/system/orrery.service")
	setting := func(name string) string {
		_, after, found := strings.Cut(unit, "\n"+name+"=")
		value, _, _ := strings.Cut(after, "\n")
		if !found {
			s.t.Fatalf("the unit has no %s", name)
		}
		return value
	}
	var env []string
	for line := range strings.Lines(setting("Environment") + "\n" + s.read(strings.TrimPrefix(setting("EnvironmentFile"), "-"))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			env = append(env, line)
		}
	}
	user := 0
	for line := range strings.Lines(s.read("/etc/passwd")) {
		if f := strings.Split(line, ":"); f[0] == setting("User") {
			user, _ = strconv.Atoi(f[2])
		}
	}
	if user == 0 {
		s.t.Fatalf("the user %s does not exist", setting("User"))
	}
	state := filepath.Join(s.root, "/var/lib", setting("StateDirectory"))
	if err := os.Chown(state, user, user); err != nil {
		s.t.Fatal(err)
	}
	return start(s.t, s.root, user, env, strings.Fields(setting("ExecStart")))
}

// server is a running program.
type server struct {
	t    *testing.T
	url  string
	stop func()
}

// start starts a program whose root folder is root. It waits until the program answers on the address of ORRERY_LISTEN.
func start(t *testing.T, root string, user int, env, args []string) *server {
	t.Helper()
	as := func(args ...string) *exec.Cmd {
		command := exec.Command(args[0], args[1:]...)
		command.Env, command.Dir = env, "/"
		command.SysProcAttr = &syscall.SysProcAttr{
			Chroot: root, Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)},
		}
		return command
	}
	var log bytes.Buffer
	command := as(args...)
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	stop := func() {
		t.Helper()
		_ = command.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the server ended with %v\n%s", err, &log)
			}
		case <-time.After(time.Minute):
			_ = command.Process.Kill()
			t.Error("the server does not stop")
		}
	}
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		probe, err := as(args[0], "healthz").CombinedOutput()
		if err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the server has ended with %v\n%s", err, &log)
		default:
		}
		if time.Now().After(deadline) {
			_ = command.Process.Kill()
			t.Fatalf("the server is not up: %s\n%s", probe, &log)
		}
	}
	address := ""
	for _, v := range env {
		if value, is := strings.CutPrefix(v, "ORRERY_LISTEN="); is {
			address = value
		}
	}
	return &server{t, "http://" + address, stop}
}

// get returns the answer of the server to a request.
func (s *server) get(path string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth("", testKey)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d, %v\n%.500s", path, answer.StatusCode, err, body)
	}
	return string(body)
}

const (
	testKey = "a key with more than sixteen characters"
	status  = "/api/v4.0/status"
)

// states checks that everything the server answers has the version.
func (s *server) states(version string) {
	s.t.Helper()
	if got := s.get(status); !strings.Contains(got, `"version":"`+version+`"`) {
		s.t.Errorf("the status lacks the version %s: %.200s", version, got)
	}
	if got := s.get("/openapi.json"); !strings.Contains(got, `"version":"`+version+`"`) {
		s.t.Errorf("the OpenAPI document lacks the version %s: %.200s", version, got)
	}
}

// awaitRecords waits until the server has a number of records.
func (s *server) awaitRecords(n int) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		got := s.get(status)
		if strings.Contains(got, fmt.Sprintf(`"records":%d,`, n)) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("there are not %d records: %s", n, got)
		}
	}
}

// needRoot skips a test that changes root folders and users.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can start a program in a root folder of its own, as another user")
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// checkDeb installs the package in a system of its own, configures and starts its service, upgrades, removes and purges it.
func checkDeb(t *testing.T, first, next string) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not installed, which Debian and its relatives have")
	}
	needRoot(t)
	s := newSystem(t, "var/lib/dpkg/info", "var/lib/dpkg/updates")
	if err := writeBelow(filepath.Join(s.root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.dpkg("--install", first)
	checkInstalled(t, s, func() { s.dpkg("--install", next) })

	s.dpkg("--remove", "orrery")
	if s.has("/usr/bin/orrery") || !s.has(settingsFile) {
		t.Error("the removal left the program or took the settings")
	}
	s.dpkg("--purge", "orrery")
	if s.has(settingsFile) || s.has("/var/lib/orrery/orrery.toml") {
		t.Error("the purge left the settings")
	}
	checkKept(t, s)
}

// checkRPM is checkDeb for the package of Fedora and its relatives. rpm runs the scripts of packages in the root folder, so
// the system has the commands that they need.
func checkRPM(t *testing.T, first, next string) {
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("rpm is not installed; Debian has it as a package, too")
	}
	needRoot(t)
	s := newSystem(t, "var/lib/rpm", "dev", "tmp")
	for _, name := range []string{"sh", "grep", "useradd", "mkdir", "chmod", "chown", "ln", "readlink", "rm"} {
		s.copyCommand(name)
	}
	for _, name := range []string{"etc/passwd", "etc/group", "etc/login.defs", "dev/null"} {
		if err := writeBelow(filepath.Join(s.root, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.rpm("--install", first)
	checkInstalled(t, s, func() { s.rpm("--upgrade", next) })

	s.rpm("--erase", "orrery")
	if s.has("/usr/bin/orrery") || !strings.Contains(s.read(settingsFile+".rpmsave"), "shop.log") {
		t.Error("the removal left the program or took the settings")
	}
	checkKept(t, s)
}

// settingsFile has the settings of the service.
const settingsFile = "/etc/orrery/orrery.toml"

// checkInstalled configures and starts the service of an installed package, and upgrades it.
func checkInstalled(t *testing.T, s system, upgrade func()) {
	t.Helper()
	for _, path := range []string{"/usr/share/man/man1/orrery.1.gz", "/usr/share/bash-completion/completions/orrery", "/usr/share/doc/orrery/copyright"} {
		if !s.has(path) {
			t.Errorf("the package lacks %s", path)
		}
	}
	verifyUnit(t, s)

	const environment, log = "/etc/orrery/environment", "/var/log/shop.log"
	edit := func(path, text string, mode fs.FileMode) {
		t.Helper()
		if err := writeBelow(filepath.Join(s.root, path), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	line := `192.0.2.1 - - [01/Jan/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "curl"` + "\n"
	edit(log, line, 0o644)
	edit(settingsFile, "[source.shop]\nfiles = [\""+log+"\"]\nset = { host = \"shop.example\" }\nmax-age = \"0d\"\n", 0o644)
	edit(environment, "ORRERY_LISTEN="+freeAddress(t)+"\nORRERY_API_KEY="+testKey+"\n", 0o600)
	server := s.service()
	server.states("1.2.3")
	server.awaitRecords(1)
	server.stop()

	edit(log, line+strings.Replace(line, "10:00", "11:00", 1), 0o644)
	upgrade()
	if !strings.Contains(s.read(settingsFile), "shop.log") || !strings.Contains(s.read(environment), testKey) {
		t.Error("the upgrade has changed settings")
	}
	server = s.service()
	server.awaitRecords(2)
	server.stop()
}

// checkKept checks what no removal takes.
func checkKept(t *testing.T, s system) {
	t.Helper()
	if !s.has("/var/lib/orrery/ledger.db") {
		t.Error("the removal took the data")
	}
	if !strings.Contains(s.read("/etc/passwd"), "orrery:") {
		t.Error("the removal took the user, whose number another user can get")
	}
}

// nextPackages makes packages of version 1.2.4 with the same program, and returns the folder that they are in.
func nextPackages(t *testing.T, top string, p platform, unpacked string) string {
	t.Helper()
	r := release{version: "1.2.4", out: t.TempDir(), work: t.TempDir(), log: io.Discard}
	program, err := os.ReadFile(filepath.Join(unpacked, "orrery"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(top)
	if err := r.writePackages(t.Context(), p, common{}, program, nil); err != nil {
		t.Fatal(err)
	}
	return r.out
}

// verifyUnit has systemd verify the unit of the installed package.
func verifyUnit(t *testing.T, s system) {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Log("systemd-analyze is not installed, so the unit is not verified")
		return
	}
	verify := exec.Command("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", "--root="+s.root, "orrery.service")
	if output, err := verify.CombinedOutput(); err != nil || len(output) > 0 {
		t.Errorf("%v\n%s", err, output)
	}
}

// checkImage checks the layout of the image, and starts its program as its user in its root folder, which is read-only.
func checkImage(t *testing.T, archive []byte) {
	blobs := map[string][]byte{}
	for _, f := range untar(t, archive, false) {
		blobs[f.name] = f.content
		if digest, is := strings.CutPrefix(f.name, "blobs/sha256/"); is && digest != fmt.Sprintf("%x", sha256.Sum256(f.content)) {
			t.Errorf("%s has other content", f.name)
		}
	}
	blob := func(d descriptor) []byte {
		content := blobs["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		if content == nil || len(content) != d.Size {
			t.Fatalf("%+v has %d bytes", d, len(content))
		}
		return content
	}
	decode := func(content []byte, into any) {
		t.Helper()
		if err := json.Unmarshal(content, into); err != nil {
			t.Fatalf("%v: %s", err, content)
		}
	}
	var index, platforms imageIndex
	var manifest imageManifest
	var config imageConfig
	decode(blobs["index.json"], &index)
	decode(blob(index.Manifests[0]), &platforms)
	decode(blob(platforms.Manifests[0]), &manifest)
	decode(blob(manifest.Config), &config)
	layer := blob(manifest.Layers[0])
	z, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil || config.RootFS.DiffIDs[0] != fmt.Sprintf("sha256:%x", sha256.Sum256(plain)) {
		t.Errorf("the layer has another digest than %q: %v", config.RootFS.DiffIDs, err)
	}
	if v := config.Config.Labels["org.opencontainers.image.version"]; v != "1.2.3" {
		t.Errorf("the label has the version %q", v)
	}
	needRoot(t)
	root := filepath.Join(t.TempDir(), "root")
	extract(t, layer, root)
	mountReadOnly(t, root, filepath.Join(root, config.Config.WorkingDir))
	env := append(config.Config.Env, "ORRERY_LISTEN="+freeAddress(t), "ORRERY_API_KEY="+testKey) // the last one counts
	server := start(t, root, imageUser, env, slices.Concat(config.Config.Entrypoint, config.Config.Cmd))
	server.states("1.2.3")
	server.stop()
}

// mountReadOnly mounts a root folder read-only and a volume in it, as containers do.
func mountReadOnly(t *testing.T, root, volume string) {
	t.Helper()
	mount := func(from, on string, flags uintptr) {
		t.Helper()
		if err := syscall.Mount(from, on, "", syscall.MS_BIND|flags, ""); err != nil {
			t.Fatal("mount a folder:", err)
		}
	}
	unmount := func(folder string) {
		t.Cleanup(func() {
			if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
				t.Error("unmount a folder:", err)
			}
		})
	}
	state := t.TempDir()
	if err := os.Chown(state, imageUser, imageUser); err != nil {
		t.Fatal(err)
	}
	mount(root, root, 0)
	unmount(root)
	mount("", root, syscall.MS_REMOUNT|syscall.MS_RDONLY)
	mount(state, volume, 0)
	unmount(volume)
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); !errors.Is(err, syscall.EROFS) {
		t.Errorf("the root folder is writable: %v", err)
	}
}

// extract extracts a layer.
func extract(t *testing.T, layer []byte, root string) {
	t.Helper()
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	archive := exec.Command("tar", "--extract", "--gzip", "--same-owner", "--same-permissions", "--directory", root)
	archive.Stdin = bytes.NewReader(layer)
	if output, err := archive.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

func contentsOf(t *testing.T, folder string) []file {
	t.Helper()
	files, err := filesOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func namesOf(files []file) []string {
	var names []string
	for _, f := range files {
		names = append(names, f.name)
	}
	return names
}

func contentOf(t *testing.T, files []file, name string) []byte {
	t.Helper()
	i := slices.IndexFunc(files, func(f file) bool { return f.name == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	return files[i].content
}

// untar returns the files of a tar.
func untar(t *testing.T, content []byte, compressed bool) (files []file) {
	t.Helper()
	var r io.Reader = bytes.NewReader(content)
	if compressed {
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = z
	}
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		one, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{header.Name, header.FileInfo().Mode(), one})
	}
}

package local

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/sqlitefile"
	"github.com/orrery/orrery/shared/valuelist/listfile"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// reader is a key that may read planets.
var reader = keys.Grant{Name: "n", Scopes: []keys.Scope{keys.ConfRead}}

// noSearch is a search that always fails.
type noSearch struct{}

func (noSearch) Search(context.Context, search.Request) (search.Result, error) {
	return search.Result{}, errors.New("unexpected search")
}

// accessTest is a server with the keys of a folder, and a clock.
type accessTest struct {
	t       *testing.T
	data    string
	keys    Keys
	handler http.Handler
	now     time.Time
}

func newAccessTest(t *testing.T, address, apiKey string) *accessTest {
	t.Helper()
	h := &accessTest{t: t, data: t.TempDir(), now: start}
	h.keys = OpenTestKeys(t, h.data)
	config := api.Config{
		Search:    noSearch{},
		Planets:   planet.Over(document.Over(noItems{}), h.clock),
		Documents: document.Over(noItems{}),
		Lists:     listfile.Folder(h.data),
		Status:    &Product{},
		Log:       slog.New(slog.DiscardHandler),
		Now:       h.clock,
	}
	var err error
	if h.handler, err = (Access{Address: address, APIKey: apiKey, Keys: h.keys}).handler(config); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *accessTest) clock() time.Time { return h.now }

// wants requests the first planet with a key, or without one if key is empty, and checks the status.
func (h *accessTest) wants(when, key string, status int) {
	h.t.Helper()
	r := httptest.NewRequest("GET", "http://localhost/api/v4.0/conf/prod/planets", nil)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	if w.Code != status {
		h.t.Errorf("%s: status %d, want %d\n%s", when, w.Code, status, w.Body)
	}
}

// issue creates a key like the command in another process.
func (h *accessTest) issue() (secret, id string) {
	h.t.Helper()
	secret, k, err := keys.Issue(h.t.Context(), OpenTestKeys(h.t, h.data), reader, h.now)
	if err != nil {
		h.t.Fatal(err)
	}
	return secret, k.ID
}

func TestNoKeyIsNeededUntilOneExists(t *testing.T) {
	h := newAccessTest(t, "127.0.0.1:8080", "")
	h.wants("at first", "", 200)
	secret, id := h.issue()
	h.wants("with a key made, without it", "", 401)
	h.wants("with it", secret, 200)
	h.wants("with another", "orr_aaaaaaaaaaaaaaaaaaaaaaaaaa", 401)
	if err := OpenTestKeys(t, h.data).Revoke(t.Context(), id, h.now); err != nil {
		t.Fatal(err)
	}
	h.now = start.Add(59 * time.Second)
	h.wants("revoked a moment ago", secret, 200)
	h.now = start.Add(60 * time.Second)
	h.wants("revoked a minute ago", secret, 401)
	h.wants("with all keys revoked, without one", "", 401)
	if needed, err := (Access{Address: "127.0.0.1:8080", Keys: h.keys}).NeedKey(t.Context()); !needed || err != nil {
		t.Errorf("a server that is started then needs no key: %v, %v", needed, err)
	}
}

func TestKeysOfFolderAndServer(t *testing.T) {
	h := newAccessTest(t, "127.0.0.1:8080", "own")
	h.wants("without one", "", 401)
	h.wants("the server's", "own", 200)
	secret, _ := h.issue()
	h.wants("the folder's", secret, 200)
	h.wants("the server's still", "own", 200)
}

// TestOtherAddressesAlwaysNeedAKey even if the file of keys was removed.
func TestOtherAddressesAlwaysNeedAKey(t *testing.T) {
	for _, address := range []string{"0.0.0.0:8080", ":8080", "192.0.2.1:80", "[::]:8080", "nonsense"} {
		newAccessTest(t, address, "").wants(address, "", 401)
	}
}

func TestAddressesThatNeedAKey(t *testing.T) {
	for address, free := range map[string]bool{
		"127.0.0.1:8080": true, "localhost:0": true, "[::1]:80": true,
		"0.0.0.0:8080": false, ":8080": false, "192.0.2.1:80": false, "gateway:80": false,
	} {
		if err := CheckAddress(address, false); (err == nil) != free {
			t.Errorf("%s without a key: %v", address, err)
		}
		if err := CheckAddress(address, true); err != nil {
			t.Errorf("%s with a key: %v", address, err)
		}
	}
	if err := CheckAddress("8080", true); err == nil {
		t.Error("an address without a port was accepted")
	}
}

func TestKeysForOtherMachinesAreLong(t *testing.T) {
	for _, test := range []struct {
		address, key string
		fine         bool
	}{
		{"127.0.0.1:8080", "short", true},
		{"0.0.0.0:8080", "short", false},
		{":8080", "fifteen-letters", false},
		{":8080", "sixteen--letters", true},
		{":8080", "", true}, // the keys of the folder are used
	} {
		if err := CheckKey(test.address, test.key); (err == nil) != test.fine {
			t.Errorf("%s with %q: %v", test.address, test.key, err)
		}
	}
}

// brokenKeys is a store that cannot be read.
type brokenKeys struct{ Keys }

func (brokenKeys) List(context.Context) ([]keys.Key, error) { return nil, errors.New("disk") }

func (brokenKeys) Find(context.Context, string) (keys.Key, error) {
	return keys.Key{}, errors.New("disk")
}

// TestKeyIsNeededIfKeysCannotBeRead, because there may be some.
func TestKeyIsNeededIfKeysCannotBeRead(t *testing.T) {
	h := newAccessTest(t, "127.0.0.1:8080", "")
	handler, ok := h.handler.(*accessHandler)
	if !ok {
		t.Fatalf("the handler is a %T", h.handler)
	}
	handler.access.Keys = brokenKeys{}
	h.wants("while keys cannot be read", "", 401)
	handler.access.Keys = h.keys
	h.wants("when they can be read again and there are none", "", 200)
}

func TestUnreadableKeysAreAnError(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, keysFile), bytes.Repeat([]byte("no database "), 50), 0o600); err != nil {
		t.Fatal(err)
	}
	if k, err := OpenKeys(t.Context(), data); err == nil {
		t.Errorf("opened as %T", k)
	}
}

// TestReadOnlyFolderWithoutKeys: the list is empty, and creating a key is an error.
func TestReadOnlyFolderWithoutKeys(t *testing.T) {
	none := keys.Over(unwritable{noItems{}, sqlitefile.ErrReadOnly})
	list, err := none.List(t.Context())
	if err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if _, _, err := keys.Issue(t.Context(), none, reader, start); !errors.Is(err, sqlitefile.ErrReadOnly) {
		t.Errorf("%v", err)
	}
}

// TestOpenCreatesNoKeys: this process may query a folder that it can read, and needs no keys for that.
func TestOpenCreatesNoKeys(t *testing.T) {
	data := t.TempDir()
	p, err := Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(data)
	if err != nil || slices.ContainsFunc(files, func(f os.DirEntry) bool { return f.Name() == keysFile }) {
		t.Errorf("%v, %v", files, err)
	}
}

package keysqlite_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/keys/keysqlite"
	"github.com/orrery/orrery/shared/keys/keystest"
)

func open(t *testing.T, path string) *keysqlite.Store {
	t.Helper()
	s, err := keysqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	keystest.Run(t, func(t *testing.T) keys.Store {
		return open(t, filepath.Join(t.TempDir(), "a name with ?, % and #.db"))
	})
}

// TestOtherProcessesSeeWrites: a command may run while a server does.
func TestOtherProcessesSeeWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.db")
	server, command := open(t, path), open(t, path)
	k := keystest.Key("word", 0)
	if err := command.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if got, err := server.Find(t.Context(), k.ID); err != nil || got.Hash != k.Hash {
		t.Errorf("created: %+v, %v", got, err)
	}
	if err := command.Revoke(t.Context(), k.ID, keystest.At); err != nil {
		t.Fatal(err)
	}
	if got, err := server.Find(t.Context(), k.ID); err != nil || got.Revoked != keystest.At {
		t.Errorf("revoked: %+v, %v", got, err)
	}
}

func TestFileIsReadableByOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.db")
	open(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestOpenReadOnly: keys in a read-only folder are found, and no other file is created.
func TestOpenReadOnly(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "keys.db")
	want := keystest.Key("word", 0)
	if err := open(t, path).Create(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	s, err := keysqlite.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Find(t.Context(), want.ID)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := s.Create(t.Context(), keystest.Key("other", 1)); err == nil {
		t.Error("a key was created")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
	if _, err := keysqlite.OpenReadOnly(t.Context(), filepath.Join(folder, "none.db")); err == nil {
		t.Error("opened a file that does not exist")
	}
}

// TestOtherFileIsAnError: treating it as a file without keys would allow every caller.
func TestOtherFileIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.db")
	text := strings.Repeat("not a database, but longer than the header of one ", 5)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keysqlite.Open(t.Context(), path); err == nil {
		t.Error("it was opened")
	}
	if _, err := keysqlite.OpenReadOnly(t.Context(), path); err == nil {
		t.Error("it was opened for reading")
	}
}

// TestFilesOfEarlierVersions: the keys of a file without token keys are found. Each gets its own when the file is
// opened for writing, and keeps it. The earlier version can still create keys.
func TestFilesOfEarlierVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.db")
	earlier := func(statements ...string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range statements {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	insert := func(word string) string {
		k := keystest.Key(word, 0)
		return fmt.Sprintf("INSERT INTO keys (id, hash, name, scopes, branches, created_ms, expires_ms, revoked_ms)"+
			" VALUES ('%s', x'%x', 'n', '[\"data:read\"]', '[\"staging\"]', %d, NULL, NULL)",
			k.ID, k.Hash, k.Created.UnixMilli())
	}
	earlier(`CREATE TABLE keys (id TEXT NOT NULL PRIMARY KEY, hash BLOB NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
		branches TEXT NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER, revoked_ms INTEGER) STRICT, WITHOUT ROWID`,
		"PRAGMA user_version = 1", insert("one"), insert("two"))
	tokenKeyOf := func(s *keysqlite.Store, word string) keys.TokenKey {
		t.Helper()
		k, err := s.Find(t.Context(), keystest.Key(word, 0).ID)
		if err != nil {
			t.Fatal(err)
		}
		return k.TokenKey
	}
	readOnly, err := keysqlite.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if tokenKey := tokenKeyOf(readOnly, "one"); !tokenKey.IsZero() {
		t.Errorf("read-only: %x", [32]byte(tokenKey))
	}
	if err := readOnly.Close(); err != nil {
		t.Error(err)
	}
	first := tokenKeyOf(open(t, path), "one")
	earlier(insert("three"))
	later := open(t, path)
	if tokenKeyOf(later, "one") != first {
		t.Error("opening the file again changed a token key")
	}
	for _, word := range []string{"two", "three"} {
		if tokenKey := tokenKeyOf(later, word); tokenKey.IsZero() || tokenKey == first {
			t.Errorf("the token key of key %s is %x, that of key one %x", word, [32]byte(tokenKey), [32]byte(first))
		}
	}
}

// TestExistingFileIsRead: a file of an earlier version is read and continued.
func TestExistingFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.db")
	file, err := os.ReadFile("testdata/keys.db")
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	full, bare, revoked := keystest.Key("full", 0), keystest.Key("bare", 1), keystest.Key("revoked", 2)
	full.Branches, full.Expires = []string{"a/b", "prod", "ünï"}, keystest.At.Add(time.Hour)
	full.TokenKey, revoked.Revoked = keys.TokenKey{0, 1, 254, 255}, keystest.At.Add(time.Minute)
	list, err := s.List(t.Context())
	for i := range list {
		if i > 0 { // Open has given them token keys
			list[i].TokenKey = keys.TokenKey{}
		}
	}
	if diff := cmp.Diff([]keys.Key{full, bare, revoked}, list); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := s.Revoke(t.Context(), bare.ID, keystest.At); err != nil {
		t.Error(err)
	}
}

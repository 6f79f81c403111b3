// Package blobtest has the test suite that every blob.Store passes, and a blob.Store in memory.
package blobtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/blob"
)

// Test runs the suite. open returns an empty store.
func Test(t *testing.T, open func(t *testing.T) blob.Store) {
	for name, test := range map[string]func(*testing.T, blob.Store){
		"get returns what was put":                       testReadBack,
		"get begins at any offset":                       testOffsets,
		"names may contain characters that URLs escape":  testNames,
		"head returns size and sum":                      testHead,
		"put replaces an object":                         testReplace,
		"put if absent keeps the first object":           testIfAbsent,
		"one of many concurrent puts if absent succeeds": testRace,
		"copy copies the content and replaces no object": testCopy,
		"an object that does not exist is not found":     testAbsent,
		"list is in byte order":                          testList,
		"list returns more than one page":                testLongList,
		"deleting twice is not an error":                 testDelete,
		"a reader notices that the object was replaced":  testReplacedUnderReader,
		"a range is of the content that the ETag names":  testRanges,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func put(t *testing.T, s blob.Store, name, content string) {
	t.Helper()
	if err := s.Put(t.Context(), name, strings.NewReader(content), blob.Always); err != nil {
		t.Fatal(err)
	}
}

func contentOf(t *testing.T, s blob.Store, name string) string {
	t.Helper()
	body, _, err := s.Get(t.Context(), name, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func testReadBack(t *testing.T, s blob.Store) {
	for i, content := range []string{"", "a", "line\nline\n", strings.Repeat("0123456789abcdef", 100_000)} {
		name := fmt.Sprintf("dir/object-%d", i)
		put(t, s, name, content)
		if got := contentOf(t, s, name); got != content {
			t.Errorf("put %d bytes, got %d different bytes", len(content), len(got))
		}
	}
}

func testOffsets(t *testing.T, s blob.Store) {
	put(t, s, "object", "0123456789")
	for _, offset := range []int64{0, 1, 9, 10} {
		body, info, err := s.Get(t.Context(), "object", "", offset)
		if err != nil {
			t.Fatalf("from %d: %v", offset, err)
		}
		content, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); err != nil {
			t.Fatal(err)
		}
		if want := "0123456789"[offset:]; string(content) != want || info.Size != 10 {
			t.Errorf("from %d: %q of an object of %d bytes", offset, content, info.Size)
		}
	}
}

func testNames(t *testing.T, s blob.Store) {
	for _, name := range []string{"a b", "a+b", "a%20b", "ü/ö", "x=1&y=2", "quote'\"", "a;b", "#?"} {
		put(t, s, name, name)
		if err := s.Copy(t.Context(), name, "copy/"+name); err != nil {
			t.Fatal(err)
		}
		if got := contentOf(t, s, "copy/"+name); got != name {
			t.Errorf("%q holds the content of %q", name, got)
		}
	}
}

func testHead(t *testing.T, s blob.Store) {
	put(t, s, "object", "content")
	info, err := s.Head(t.Context(), "object")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("content"))
	if info.Name != "object" || info.Size != 7 || info.Sum != hex.EncodeToString(sum[:]) ||
		info.ETag == "" || info.Modified.IsZero() {
		t.Errorf("%+v", info)
	}
}

func testReplace(t *testing.T, s blob.Store) {
	put(t, s, "object", "first")
	put(t, s, "object", "second")
	if got := contentOf(t, s, "object"); got != "second" {
		t.Error(got)
	}
}

func testIfAbsent(t *testing.T, s blob.Store) {
	if err := s.Put(t.Context(), "object", strings.NewReader("first"), blob.IfAbsent); err != nil {
		t.Fatal(err)
	}
	err := s.Put(t.Context(), "object", strings.NewReader("second"), blob.IfAbsent)
	if !errors.Is(err, blob.ErrExists) {
		t.Errorf("second put: %v, want ErrExists", err)
	}
	if got := contentOf(t, s, "object"); got != "first" {
		t.Error(got)
	}
}

func testRace(t *testing.T, s blob.Store) {
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() { errs[i] = s.Put(t.Context(), "object", strings.NewReader(fmt.Sprint(i)), blob.IfAbsent) })
	}
	all.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			t.Errorf("puts %d and %d both succeeded", won, i)
		case err == nil:
			won = i
		case !errors.Is(err, blob.ErrExists):
			t.Error(err)
		}
	}
	if got := contentOf(t, s, "object"); got != fmt.Sprint(won) {
		t.Errorf("put %d succeeded, but the object holds %s", won, got)
	}
}

func testCopy(t *testing.T, s blob.Store) {
	put(t, s, "from", "content")
	put(t, s, "taken", "other")
	if err := s.Copy(t.Context(), "from", "dir/to"); err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, s, "dir/to"); got != "content" {
		t.Error(got)
	}
	from, err1 := s.Head(t.Context(), "from")
	to, err2 := s.Head(t.Context(), "dir/to")
	if err := errors.Join(err1, err2); err != nil || from.Sum != to.Sum {
		t.Errorf("sums %q and %q, %v", from.Sum, to.Sum, err)
	}
	if err := s.Copy(t.Context(), "from", "taken"); !errors.Is(err, blob.ErrExists) {
		t.Errorf("copy to an existing object: %v, want ErrExists", err)
	}
	if got := contentOf(t, s, "taken"); got != "other" {
		t.Error(got)
	}
	if err := s.Copy(t.Context(), "nothing", "else"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("copy of a missing object: %v, want ErrNotFound", err)
	}
}

func testAbsent(t *testing.T, s blob.Store) {
	put(t, s, "dir/object", "content")
	for _, name := range []string{"nothing", "dir", "dir/object/more"} {
		if _, _, err := s.Get(t.Context(), name, "", 0); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("get %s: %v", name, err)
		}
		if _, err := s.Head(t.Context(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("head %s: %v", name, err)
		}
	}
}

func names(t *testing.T, s blob.Store, prefix, after string) []string {
	t.Helper()
	list := []string{}
	for info, err := range s.List(t.Context(), prefix, after) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %d", info.Name, info.Size))
	}
	return list
}

func testList(t *testing.T, s blob.Store) {
	for i, name := range []string{"a/b", "a-b", "a/c/d", "a/c", "b", "a0"} {
		put(t, s, name, strings.Repeat("x", i))
	}
	for _, test := range []struct {
		prefix, after string
		want          []string
	}{
		{"", "", []string{"a-b 1", "a/b 0", "a/c 3", "a/c/d 2", "a0 5", "b 4"}},
		{"a/", "", []string{"a/b 0", "a/c 3", "a/c/d 2"}},
		{"a/c", "", []string{"a/c 3", "a/c/d 2"}},
		{"", "a/b", []string{"a/c 3", "a/c/d 2", "a0 5", "b 4"}},
		{"a/", "a/c", []string{"a/c/d 2"}},
		{"a/", "a/c/d", []string{}},
		{"c", "", []string{}},
	} {
		if diff := cmp.Diff(test.want, names(t, s, test.prefix, test.after)); diff != "" {
			t.Errorf("prefix %q after %q:\n%s", test.prefix, test.after, diff)
		}
	}
	for info, err := range s.List(t.Context(), "a/", "") {
		if err != nil {
			t.Fatal(err)
		}
		head, err := s.Head(t.Context(), info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if info.ETag == "" || info.ETag != head.ETag {
			t.Errorf("%s has the ETag %s in the list, %s otherwise", info.Name, info.ETag, head.ETag)
		}
		if !info.Modified.Truncate(time.Second).Equal(head.Modified.Truncate(time.Second)) {
			t.Errorf("%s has the time %v in the list, %v otherwise", info.Name, info.Modified, head.Modified)
		}
	}
}

func testLongList(t *testing.T, s blob.Store) {
	const n = 1003
	var all sync.WaitGroup
	for part := range 8 {
		all.Go(func() {
			for i := part; i < n; i += 8 {
				if err := s.Put(t.Context(), fmt.Sprintf("o/%04d", i), bytes.NewReader(nil), blob.Always); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	list := names(t, s, "o/", "")
	if len(list) != n || list[0] != "o/0000 0" || list[n-1] != "o/1002 0" {
		t.Errorf("list returned %d names", len(list))
	}
	all1003 := make([]string, n)
	for i := range all1003 {
		all1003[i] = fmt.Sprintf("o/%04d", i)
	}
	if err := s.Delete(t.Context(), all1003...); err != nil {
		t.Fatal(err)
	}
	if left := names(t, s, "", ""); len(left) > 0 {
		t.Errorf("%d objects are left after delete", len(left))
	}
}

func testDelete(t *testing.T, s blob.Store) {
	put(t, s, "a/b", "content")
	put(t, s, "a/c", "content")
	for range 2 {
		if err := s.Delete(t.Context(), "a/b", "nothing"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a/c 7"}, names(t, s, "", "")); diff != "" {
		t.Error(diff)
	}
	put(t, s, "a/b", "again")
	if got := contentOf(t, s, "a/b"); got != "again" {
		t.Error(got)
	}
}

func testReplacedUnderReader(t *testing.T, s blob.Store) {
	put(t, s, "object", "0123456789")
	r, err := blob.Open(t.Context(), s, "object", "")
	if err != nil {
		t.Fatal(err)
	}
	first, err := io.ReadAll(r)
	if err != nil || string(first) != "0123456789" {
		t.Fatal(string(first), err)
	}
	if _, err := r.Seek(5, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(r); err != nil || string(rest) != "56789" {
		t.Fatal(string(rest), err)
	}
	put(t, s, "object", "abcdefghij")
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if again, err := io.ReadAll(r); !errors.Is(err, blob.ErrChanged) || len(again) > 0 {
		t.Errorf("read %q, %v", again, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// testRanges reads ranges of stores that have them.
func testRanges(t *testing.T, s blob.Store) {
	ranges, ok := s.(blob.Ranges)
	if !ok {
		t.Skip("the store has no ranges")
	}
	put(t, s, "object", "0123456789")
	info, err := s.Head(t.Context(), "object")
	if err != nil {
		t.Fatal(err)
	}
	read := func(etag string, offset, length int64) (string, error) {
		body, err := ranges.GetRange(t.Context(), "object", etag, offset, length)
		if err != nil {
			return "", err
		}
		content, err := io.ReadAll(body)
		return string(content), errors.Join(err, body.Close())
	}
	for want, at := range map[string][2]int64{"0123456789": {0, 10}, "0": {0, 1}, "34": {3, 2}, "9": {9, 1}} {
		if got, err := read(info.ETag, at[0], at[1]); got != want || err != nil {
			t.Errorf("%d bytes from %d are %q, %v", at[1], at[0], got, err)
		}
	}
	put(t, s, "object", "9876543210")
	if got, err := read(info.ETag, 0, 10); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("of a replaced object: %q, %v", got, err)
	}
	if err := s.Delete(t.Context(), "object"); err != nil {
		t.Fatal(err)
	}
	if got, err := read(info.ETag, 0, 10); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("of a deleted object: %q, %v", got, err)
	}
}

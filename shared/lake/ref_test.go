package lake_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/lake"
)

var exampleRef = lake.RefTo(1767225600123, "9f86d081884c7d65", 42)

func TestRefs(t *testing.T) {
	t.Run("a reference is printed and parsed without loss", func(t *testing.T) {
		for _, ms := range []int64{0, -1, 1, 1767225600123, -62_135_596_800_000, 253_402_300_799_999} {
			for _, source := range []string{"", "a", "9f86d081884c7d65-2", "é:'"} {
				want := lake.RefTo(ms, source, ms+7)
				got, err := lake.ParseRef(want.String())
				if err != nil || got != want {
					t.Errorf("%s is parsed as %+v, %v; want %+v", want, got, err, want)
				}
			}
		}
	})
	t.Run("the text of a reference does not change", func(t *testing.T) {
		const want = "Afah1e3uZrKNUewXlA7-i81O-BPCAYKxGDOj"
		if got := exampleRef.String(); got != want {
			t.Errorf("printed as %s, want %s: links that people have kept would be broken", got, want)
		}
		if got, want := exampleRef.MarkHex(), "b28d51ec17940efe8bcd4ef813c20182"; got != want {
			t.Errorf("the mark is %s, want %s", got, want)
		}
	})
	t.Run("a reference contains neither source nor line", func(t *testing.T) {
		const source = "9f86d081884c7d65"
		first := lake.RefTo(0, source, 1000)
		for line := int64(1001); line < 1100; line++ {
			ref := lake.RefTo(0, source, line)
			content, err := base64.RawURLEncoding.DecodeString(ref.String())
			if err != nil || bytes.Contains(content, []byte(source)) {
				t.Fatalf("%s contains %q, %v", ref, content, err)
			}
			equal := 0
			for i := range ref.Mark {
				if ref.Mark[i] == first.Mark[i] {
					equal++
				}
			}
			if equal > len(ref.Mark)/2 {
				t.Errorf("the marks of the lines 1000 and %d have %d equal bytes", line, equal)
			}
		}
	})
	t.Run("source and line are not mixed up", func(t *testing.T) {
		seen := map[lake.Ref]string{}
		for _, source := range []string{"", "1", "1:1", "11", "a", "a:1", "a-1", "-1"} {
			for _, line := range []int64{-1, 0, 1, 11, 111} {
				ref, record := lake.RefTo(5, source, line), source+" "+string(rune('a'+line))
				if other, known := seen[ref]; known {
					t.Errorf("the records %q and %q have the same reference", record, other)
				}
				seen[ref] = record
			}
		}
	})
	t.Run("every typing error of one or two characters is refused", func(t *testing.T) {
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		text := exampleRef.String()
		for i := range text {
			for _, c := range []string{"", "A", "é", " ", "\n", "="} {
				refuse(t, text[:i]+c+text[i+1:], text)
				refuse(t, text[:i]+c+text[i:], text)
			}
			for j := range alphabet {
				refuse(t, text[:i]+alphabet[j:j+1]+text[i+1:], text)
			}
			if i > 0 {
				refuse(t, text[:i-1]+text[i:i+1]+text[i-1:i]+text[i+1:], text)
			}
			refuse(t, text[:i], text)
		}
		refuse(t, strings.ToLower(text), text)
		refuse(t, text+text, text)
	})
	t.Run("a reference of a later version is reported as such", func(t *testing.T) {
		if _, err := lake.ParseRef("AgAA_MUNfA"); !errors.Is(err, lake.ErrRefVersion) {
			t.Errorf("error %v", err)
		}
	})
}

func refuse(t *testing.T, text, valid string) {
	t.Helper()
	if text == valid {
		return
	}
	if ref, err := lake.ParseRef(text); !errors.Is(err, lake.ErrRef) && !errors.Is(err, lake.ErrRefVersion) {
		t.Errorf("%q is parsed as %+v, %v", text, ref, err)
	}
}

// FuzzParseRef checks that ParseRef does not panic, and that a text that it accepts is the only text of that reference.
func FuzzParseRef(f *testing.F) {
	for _, text := range []string{
		"", "A", "AQ", "AgAA_MUNfA", exampleRef.String(), lake.Ref{}.String(), lake.RefTo(-1, "", -1).String(),
		exampleRef.String() + "\n", exampleRef.String() + "==", "AYCAgICAgICAgIAB", "' OR 1=1 --", "\x00", "\xff",
		strings.Repeat("A", 36), strings.Repeat("_", 64), strings.Repeat("A", 1000),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := lake.ParseRef(text)
		switch {
		case err == nil && ref.String() != text:
			t.Fatalf("%q is the reference %s", text, ref)
		case err != nil && !errors.Is(err, lake.ErrRef) && !errors.Is(err, lake.ErrRefVersion):
			t.Fatalf("%q: unexpected error %v", text, err)
		}
	})
}

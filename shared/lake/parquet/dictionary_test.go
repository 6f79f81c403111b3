package parquet

import (
	"fmt"
	"strings"
	"testing"
)

func TestDictionary(t *testing.T) {
	var all Dictionary
	codes := map[string]int32{}
	for i := range 5_000 {
		text := strings.Repeat("x", i%3) + fmt.Sprint(i*i%1_700)
		if i%100 == 0 {
			text = ""
		}
		code := all.Code([]byte(text), Hash([]byte(text))&0xff) // hashes that collide
		if known, ok := codes[text]; ok && known != code || !ok && int(code) != len(codes) {
			t.Fatalf("%q has code %d, of %d texts; before it was %d", text, code, len(codes), known)
		}
		codes[text] = code
	}
	for text, code := range codes {
		if string(all.At(code)) != text {
			t.Errorf("code %d is %q, want %q", code, all.At(code), text)
		}
	}
}

func TestDictionaryAppendRefusesDuplicates(t *testing.T) {
	var texts Texts
	for _, text := range []string{"a", "b", "a"} {
		texts.add([]byte(text))
	}
	var d Dictionary
	if err := d.Append(&texts); err == nil || !strings.Contains(err.Error(), `two entries "a"`) {
		t.Error(err)
	}
}

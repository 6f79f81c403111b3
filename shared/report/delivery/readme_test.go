package delivery

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadmeChecksSignatures: the function in the README accepts the signatures of reports, and no others.
func TestReadmeChecksSignatures(t *testing.T) {
	python, err := exec.LookPath("python3")
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal("CI runs the example, so it needs python3")
	case err != nil:
		t.Skip("there is no python3 to run the example")
	}
	text, err := os.ReadFile("../definition/README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatal("the README has no example in python")
	}
	program := "import hashlib, hmac, sys\n" + string(found[1]) + `
for i in range(1, len(sys.argv), 3):
    run, body, signature = sys.argv[i:i+3]
    print(genuine(b"key", run, body.encode(), signature))
`
	args := []string{"-c", program}
	var want []string
	for _, test := range []struct{ run, body, signature, want string }{
		{"3f1c", "{}\n", signature("key", "3f1c", []byte("{}\n")), "True"},
		{"3f1c", "{ }\n", signature("key", "3f1c", []byte("{}\n")), "False"},
		{"3f1d", "{}\n", signature("key", "3f1c", []byte("{}\n")), "False"},
		{"3f1c", "{}\n", signature("kez", "3f1c", []byte("{}\n")), "False"},
	} {
		args, want = append(args, test.run, test.body, test.signature), append(want, test.want)
	}
	out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
	if got := strings.Fields(string(out)); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %s, want %s", err, out, want)
	}
}

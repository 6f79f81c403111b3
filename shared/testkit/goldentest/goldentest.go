// Package goldentest compares files with the code that they show or document: golden files, which the flag -update of a
// test writes, and tables of README.md files.
package goldentest

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

// Compare reports an error if the content of the file at path is not got. With -update, it writes got to the file.
func Compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); run the test with -update and read the diff:\n%s", path, diff)
	}
}

// ComparePicture reports an error if the PNG file at path does not have the pixels of got, a PNG file, too. With
// -update, it writes got to the file.
func ComparePicture(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, have := decode(t, file), decode(t, got)
	if want.Bounds() != have.Bounds() {
		t.Fatalf("the picture is %v, in %s it is %v", have.Bounds(), path, want.Bounds())
	}
	differ := 0
	for y := want.Bounds().Min.Y; y < want.Bounds().Max.Y; y++ {
		for x := want.Bounds().Min.X; x < want.Bounds().Max.X; x++ {
			if color.NRGBAModel.Convert(want.At(x, y)) != color.NRGBAModel.Convert(have.At(x, y)) {
				differ++
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d pixels differ from %s; run the test with -update and look at the picture", differ, path)
	}
}

func decode(t *testing.T, file []byte) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// Section returns the part of a Markdown file between a heading, such as "## Fields", and the next heading.
func Section(t *testing.T, path, heading string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", path, heading)
	}
	part, _, _ := strings.Cut(after, "\n#")
	return part
}

var (
	rowPattern  = regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`)
	namePattern = regexp.MustCompile("`([a-z_0-9]+)`")
)

// NamesIn lists the names between back quotes in the first column of the Markdown tables of a text.
func NamesIn(text string) []string {
	var names []string
	for _, row := range rowPattern.FindAllStringSubmatch(text, -1) {
		for _, name := range namePattern.FindAllStringSubmatch(row[1], -1) {
			names = append(names, name[1])
		}
	}
	return names
}

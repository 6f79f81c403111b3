package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// pictures are those of the README, which are taken of a busy day.
var pictures = []struct {
	name, scheme, fragment string
	ready                  string // an expression that is true when the screen is complete
	open                   string // selector of what is clicked then, and has to be complete, too
}{
	{"dashboard.png", "light", "#/?t=" + demoDay, "document.querySelectorAll('.list tbody tr').length > 50 && document.querySelector('.u-over')", ""},
	{"events.png", "dark", "#/events?f=blocked+is+true&t=" + demoDay, "document.querySelectorAll('.event').length > 15", ""},
	{"record.png", "light", `#/events?f=reason~"content+filter+%5C%5C%5B",+session~"."&t=` + demoDay,
		"document.querySelectorAll('.event').length > 3", ".event"},
}

// TestPictures takes the pictures anew if ORRERY_PICTURES is set.
func TestPictures(t *testing.T) {
	if os.Getenv("ORRERY_PICTURES") == "" {
		t.Skip("ORRERY_PICTURES is not set: the pictures of the README stay as they are")
	}
	browser := chromium(t)
	s := behind(t, site{records: "100000", seed: "3"}.address(t))
	for _, p := range pictures {
		b := newTab(t, browser, s.url, 1280, p.scheme)
		b.open(p.fragment)
		b.holds(p.ready, "is complete")
		if p.open != "" {
			b.run(chromedp.Click(p.open))
			b.holds("document.querySelector('.evidence li')", "has the evidence")
		}
		b.answered()
		var picture []byte
		b.run(chromedp.CaptureScreenshot(&picture))
		if err := os.WriteFile(filepath.Join(folder, p.name), withFewColours(t, picture), 0o644); err != nil {
			t.Fatal(err)
		}
		b.check()
	}
}

// withFewColours returns a picture with at most 256 colours: the most frequent ones that differ. Others become the nearest of them.
func withFewColours(t *testing.T, content []byte) []byte {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	bounds := picture.Bounds()
	frequent := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			frequent[at(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(frequent), func(a, b color.RGBA) int {
		return cmp.Or(frequent[b]-frequent[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range colours {
		if len(palette) < 256 && (len(palette) == 0 || differ(c, palette.Convert(c).(color.RGBA))) {
			palette = append(palette, c)
		}
	}
	indexes := map[color.RGBA]uint8{}
	for _, c := range colours {
		indexes[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			small.SetColorIndex(x, y, indexes[at(x, y)])
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, small); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// differ reports whether a reader can see that two colours differ.
func differ(a, b color.RGBA) bool {
	square := func(x, y uint8) int { return (int(x) - int(y)) * (int(x) - int(y)) }
	return square(a.R, b.R)+square(a.G, b.G)+square(a.B, b.B) > 150
}

func TestPicturesAreSmall(t *testing.T) {
	for _, p := range pictures {
		if n := len(read(t, filepath.Join(folder, p.name))); n == 0 || n > 120_000 {
			t.Errorf("%s has %d bytes, more than 120,000 or none", p.name, n)
		}
	}
}

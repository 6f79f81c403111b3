package main

import (
	"strings"
	"testing"
)

// computed is an expression for the style of every element of a screen, one line each. It leaves out what depends on the texts,
// which differ from answer to answer.
const computed = `[...document.querySelectorAll('main *:not(.line *, .uplot *)')].map((e) => {
	const style = getComputedStyle(e);
	return e.localName + '.' + e.className + ' ' + ['display', 'position', 'flexWrap', 'flexGrow', 'alignItems', 'justifyContent', 'gap',
		'paddingTop', 'paddingLeft', 'marginTop', 'marginBottom', 'borderTopWidth', 'borderLeftWidth', 'minHeight', 'minWidth', 'fontSize',
		'fontWeight', 'lineHeight', 'textAlign', 'textDecorationLine', 'whiteSpace', 'overflowX', 'color', 'backgroundColor'].
		map((name) => name + ':' + style[name]).join(' ');
}).join('\n')`

// TestStyles checks that the style of a part of the page, which stays when the part has been left, changes no other part. Short
// tests compare every second part after all of them were visited.
func TestStyles(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	walk.run("each screen looks the same after all others", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/events?f=blocked+is+true&t="+demoDay), moreThan(5, ".event"), click(".event", "Blocked"),
			holds("location.hash.startsWith('#/events/')", "has a record in its address"))
		record, _, _ := strings.Cut(value[string](b, "location.hash"), "?")
		screens := []string{
			"#/?t=" + demoDay, "#/?panel=standout&t=" + demoDay, "#/?panel=facets&t=" + demoDay, "#/?chart=latency&t=" + demoDay,
			"#/?panel=explain&f=blocked+is+true&t=" + demoDay, "#/?f=country%3D%22Nowhere%22&t=" + demoDay,
			"#/events?panel=facets&t=" + demoDay, record + "?f=blocked+is+true&t=" + demoDay,
			"#/compare?where=blocked+is+true&t=" + demoDay, "#/try?rule=limit+1+per+1h+by+ip&t=" + demoDay, "#/planets", "#/reports", "#/status",
		}
		alone := map[string]string{}
		for i, screen := range screens {
			if testing.Short() && i%2 > 0 {
				continue
			}
			for range 2 { // the first time, what is explained depends on how much of it the server has counted already
				b.open(screen)
				alone[screen] = b.computedStyle()
			}
		}
		for _, screen := range screens {
			b.follow(screen)
			b.computedStyle()
		}
		for _, screen := range screens {
			want, compared := alone[screen]
			if !compared {
				continue
			}
			b.follow(screen)
			if got := b.computedStyle(); got != want {
				t.Errorf("%s looks different after all other screens: %s", screen, firstDifference(got, want))
			}
		}
	})
}

// computedStyle returns the style of the elements of a screen when all of it is there.
func (b *tab) computedStyle() string {
	b.t.Helper()
	b.keeps(lasts(settled+" && document.querySelectorAll('main *').length > 15"), "has its answers")
	return value[string](b, computed)
}

// firstDifference returns the first two lines that differ.
func firstDifference(got, want string) string {
	gots, wants := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(gots), len(wants)) {
		if gots[i] != wants[i] {
			return "\n" + gots[i] + "\nalone\n" + wants[i]
		}
	}
	return "there are other elements"
}

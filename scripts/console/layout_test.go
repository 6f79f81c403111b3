package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// layouts are the screens with the parts whose places do not depend on the fonts of the machine, in the order of the page.
var layouts = []struct{ name, fragment, ready, parts string }{
	{
		"dashboard", "#/?t=" + demoDay, "document.querySelectorAll('.list tbody tr').length > 50 && document.querySelector('.u-over')",
		".top, .ask, .said, .incidents table, .tile, .chart .plot, .list",
	},
	{
		"dashboard with values", "#/?panel=facets&t=" + demoDay, "document.querySelector('.facet li') && document.querySelector('.u-over')",
		".top, .ask, .facets, .said, .incidents table, .tile, .chart .plot",
	},
	{
		"events", "#/events?f=blocked+is+true&t=" + demoDay, "document.querySelector('.event') && document.querySelector('.u-over')",
		".top, .ask, .chart .plot, .rows",
	},
	{
		"comparison", "#/compare?where=blocked+is+true&t=" + demoDay,
		"document.querySelector('.findings') && document.querySelector('.u-over')",
		".top, .ask, .sides, .one-side, .findings, .overlay .tile, .overlay .plot",
	},
	{
		"rule", "#/try?rule=limit+1+per+1h+by+ip&t=" + demoDay, "document.querySelector('.clients-of') && document.querySelector('.u-over')",
		".top, .ask, .rule, .verdict-of, .picture, .trial .plot",
	},
	{"status", "#/status", "document.querySelector('.checks')", ".top, main"},
	{"planets", "#/planets/prod", "document.querySelector('.editor-of .tabs')", ".top, .configurations, .editor-of"},
}

// boxesOf is the layout of parts as text: each with its left edge and its width. A part that is below the one before it begins
// a line; others are beside it.
const boxesOf = `((parts) => {
	const shown = [...document.querySelectorAll(parts)].filter((e) => e.checkVisibility());
	const lines = [];
	const boxes = [];
	for (const part of shown) {
		const box = part.getBoundingClientRect();
		const other = boxes.find(([, b]) => b.left < box.right - 1 && box.left < b.right - 1 && b.top < box.bottom - 1 && box.top < b.bottom - 1);
		const name = part.classList[0] ?? part.localName;
		if (other) lines.push(name + ' overlaps ' + other[0]);
		if (box.left < 0 || box.right > innerWidth) lines.push(name + ' is not in the window');
		const before = boxes.at(-1)?.[1];
		const text = name + ' ' + Math.round(box.left) + '+' + Math.round(box.width);
		if (before && box.top < before.bottom - 1) lines.push(lines.pop() + ', ' + text);
		else lines.push(text);
		boxes.push([name, box]);
	}
	return lines.join('\n');
})`

// TestLayout compares where the parts of the screens are with testdata/layout-WIDTH.txt. Short tests look at the narrowest
// window and at one of the usual width.
func TestLayout(t *testing.T) {
	walk := walksAt(t, demo.address(t))
	for _, width := range append([]int64{360, 768}, allWidths...) {
		if testing.Short() && width != 360 && width != 1280 {
			continue
		}
		walk.run(fmt.Sprint(width), func(t *testing.T, b *tab, s *served) {
			var out strings.Builder
			b.do(at(width))
			for _, layout := range layouts {
				b.do(open(layout.fragment), holds(layout.ready, "is complete"), answered())
				fmt.Fprintf(&out, "-- %s --\n%s\n", layout.name, value[string](b, fmt.Sprintf("%s(%q)", boxesOf, layout.parts)))
			}
			goldentest.Compare(t, filepath.Join("testdata", fmt.Sprintf("layout-%d.txt", width)), out.String())
		})
	}
}

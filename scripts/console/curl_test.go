package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestReadingAsCurl runs the commands that the screens copy for what they have read, and looks for that in what they print.
func TestReadingAsCurl(t *testing.T) {
	browser := chromium(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl")
	}
	key := locked.key
	s := behind(t, locked.address(t))
	confBy(t, s, key, http.MethodPut, fmt.Sprintf(planetBase, "shop")+"/__default__",
		`{"name":"the settings of the shop","trusted_nets":[],`+challenge+`}`)
	confBy(t, s, key, http.MethodPut, fmt.Sprintf(reportBase, "shop")+"/weekly", weeklyShop)
	b := newTab(t, browser, s.url, 1280, "light")
	b.allowed = []string{"status of 401"}
	b.open("#/status")
	b.fill("#key", key)
	b.click("button", "Use the key")
	b.sees("300 records in")

	for _, c := range []struct {
		screen, button, ready string
		commands              int
		prints                string // by the first command
	}{
		{"#/status", ".line button", "document.querySelector('.checks')", 1, `"records":300,`},
		{"#/planets", ".line button", "document.querySelector('.configurations li')", 2, `"records":300,`},
		{"#/planets/shop", ".planet > .line button", "document.querySelector('#planet-name')?.value === 'the settings of the shop'", 2,
			`"name":"the settings of the shop"`},
		{"#/planets/shop/1", ".editor-of .line button", "document.querySelector('.editor-of pre')", 1, `"name":"the settings of the shop"`},
		{"#/reports/shop", ".of-config > .line button", "document.querySelector('.of-config').innerText.includes('weekly')", 1, `"name":"weekly"`},
		{"#/reports/shop/weekly?tab=versions", ".of-config .editor-of .line button", "document.querySelector('.versions li')", 1, `"version":1`},
	} {
		b.open(c.screen)
		b.holds(c.ready, "shows "+c.screen)
		b.answered()
		b.evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text; }; 0`)
		b.click(c.button, "copy as curl")
		b.holds("window.copied", "has copied")
		commands := strings.Split(value[string](b, "window.copied"), "\n")
		if len(commands) != c.commands || strings.Contains(strings.Join(commands, "\n"), key) {
			t.Errorf("%s: the commands are %q, want %d without the key", c.screen, commands, c.commands)
		}
		for i, command := range commands {
			run := exec.CommandContext(t.Context(), "sh", "-c", command)
			run.Env = append(os.Environ(), "ORRERY_KEY="+key, "no_proxy=*")
			out, err := run.Output()
			if err != nil || !json.Valid(out) || i == 0 && !strings.Contains(string(out), c.prints) {
				t.Errorf("%s: %s prints %s (%v), want %s", c.screen, command, out, err, c.prints)
			}
		}
		b.accessible(c.screen)
	}
	b.check()
}

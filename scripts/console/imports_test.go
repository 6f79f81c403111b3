package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportLog imports logs that are dropped on the page: what they are is shown first, and an import can be undone.
func TestImportLog(t *testing.T) {
	var log strings.Builder
	for i := range 90 {
		fmt.Fprintf(&log, "203.0.113.%d - - [01/Jan/2026:10:%02d:00 +0000] \"GET /page/%d HTTP/1.1\" 200 512 \"-\" \"curl/8.5.0\"\n",
			i%5, i%60, i)
	}
	program := program(t)
	empty := func() string { return start(t, program, filepath.Join(tempDir(t), "data")) }
	for _, width := range []int64{1280, 390} {
		shot := shots("light", width)
		walksAt(t, empty())(fmt.Sprintf("a log, and back again, at %d px", width), at(width), open("#/"), sees("There is no data yet"),
			click(".trouble .primary", "Import a log"), exists("dialog.import[open] input[type=file]"), shot("import-asked"),
			drops("access.log", log.String()+"no record\n"), sees("The first record"), sees("Format combined."), sees("/page/0"),
			exists("dialog.import .field input"), shot("import-shown"), fill("dialog.import .field input", "shop.example"),
			click("dialog.import .primary", "Import"), sees("90 records imported."), sees("1 line is no record"), sees("10:59"),
			shot("import-done"), click("dialog.import .primary", "Show them"), lacks("dialog.import"), answered(), sees("shop.example"),
			drops("access.log", log.String()+"no record\n"), sees("The first record"), click("dialog.import .primary", "Import"),
			sees("Everything in this log was imported before."), holds("!$$('dialog.import button').some((one) => one.textContent === 'Undo')",
				"does not offer to undo an import without new records"), click("dialog.import button:last-child", "Close"))
	}
	walk := walksAt(t, empty())
	noDelete := func(c *call) bool { return c.r.Method == http.MethodDelete && c.hangUp() }
	walk("undone, at the second try", allow("ERR_EMPTY_RESPONSE"), answers(noDelete), open("#/"), sees("There is no data yet"),
		drops("a.log", log.String()), sees("The first record"), click("dialog.import .primary", "Import"), sees("90 records imported."),
		click("dialog.import .row button:nth-child(2)", "Undo"),
		sees("The import was not undone."), sees("The server did not answer."), answers(), click("dialog.import .row button", "Undo"),
		sees("Undone: 90 records taken out."), click("dialog.import .row button", "Close"), sees("There is no data yet"))
	walk = walksAt(t, empty())
	walk("refused, and a copy that is meant", allow("422"), open("#/"), sees("There is no data yet"), drops("notes.md", "# Notes\nabout nothing\n"),
		sees("Nothing was imported."), sees("# Notes"), shots("dark", 1280)("import-refused"),
		drops("a.log", log.String()), sees("The first record"), click("dialog.import .primary", "Import"), sees("90 records imported."),
		drops("copy.log", log.String()), sees("The first record"), click("dialog.import .primary", "Import"),
		sees("are in the data already"), click("dialog.import .row button", "Import it nevertheless"), sees("90 records imported."))
	walk = walksAt(t, empty())
	released := make(chan struct{})
	walk("cancelled too late, while another log is dropped", answers(func(c *call) bool {
		if c.to("/imports") {
			<-released
		}
		return false
	}), open("#/"), sees("There is no data yet"), drops("a.log", log.String()), sees("The first record"),
		click("dialog.import .primary", "Import"), sees("All is sent."), drops("b.log", log.String()), sees("b.log was not taken"),
		click("dialog.import .row button", "Cancel"), sees("it may be too late to cancel"), closes(released),
		sees("Too late to cancel: the log is imported."), sees("90 records imported."), click("dialog.import .row button:nth-child(2)", "Undo"),
		sees("Undone: 90 records taken out."), mustNot("$('dialog.import').innerText.includes('Too late')", "still says that it is imported"))
	walk = walksAt(t, locked.address(t))
	walk("with a key", allow("401"), open("#/"), fill(".trouble.key input", locked.key), click(".trouble.key button", ""),
		drops("a.log", log.String()), sees("The first record"),
		click("dialog.import .row button:last-child", "Close"))
}

// drops drops a file with a text on the page.
func drops(name, text string) step {
	return evaluate(fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([%s], %s));
		document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
	})()`, inJS(text), inJS(name)))
}

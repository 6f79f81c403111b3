package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/completion"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// completionCases are command lines whose last word is completed.
var completionCases = []struct {
	rule    string
	shell   string // "": all
	line    []string
	want    []string // among the completions
	without []string // not among them
}{
	{rule: "commands", line: []string{"im"}, want: []string{"import", "imports"}, without: []string{"serve"}},
	{
		rule: "commands below a command",
		line: []string{"report", "p"}, want: []string{"put", "preview", "pause"}, without: []string{"planet"},
	},
	{rule: "flags", line: []string{"serve", "--wa"}, want: []string{"--watch"}, without: []string{"--data"}},
	{rule: "flags that are negated", line: []string{"serve", "--no-"}, want: []string{"--no-demo"}},
	{
		rule: "flags from the table of parameters",
		line: []string{"query", "stats", "--group"}, want: []string{"--group-by"},
	},
	{
		rule: "values of a flag",
		line: []string{"status", "--format", "t"}, want: []string{"table"}, without: []string{"json"},
	},
	{
		rule: "values after an equals sign, a word in bash", shell: "bash",
		line: []string{"status", "--format", "=", "t"}, want: []string{"table"},
	},
	{
		rule: "all values after an equals sign", shell: "bash",
		line: []string{"status", "--format", "="}, want: []string{"table", "json"},
	},
	{
		rule: "values after an equals sign", shell: "fish",
		line: []string{"status", "--format=t"}, want: []string{"--format=table"},
	},
	{rule: "values of an argument", line: []string{"query", "top"}, want: []string{"topx"}},
	{
		rule: "arguments after a flag with a value",
		line: []string{"query", "--data", "list", "time"}, want: []string{"timeline"},
	},
	{rule: "files", line: []string{"import", "access"}, want: []string{"access.log"}},
	{
		rule: "folders",
		line: []string{"serve", "--data", "log"}, want: []string{"logs"}, without: []string{"logs.txt"},
	},
	{rule: "shells", line: []string{"completion", ""}, want: completion.Shells},
	{
		rule: "not hidden flags",
		line: []string{"healthz", "--"}, want: []string{"--timeout"}, without: []string{"--listen"},
	},
}

// completers complete the last word of a command line with the script in a file, each completion in a line of its own.
var completers = map[string]struct{ script, program string }{
	"bash": {"bash", `source "$0"; COMP_WORDS=(orrery "$@"); COMP_CWORD=$#; _orrery; printf '%s\n' "${COMPREPLY[@]}"`},
	"fish": {"fish", `source $argv[1]; complete -C (string join -- ' ' orrery $argv[2..-1])`},
	// The functions of zsh's completion system exist only on terminals.
	"zsh": {"zsh", `
compdef() { : }
compset() { : }
compadd() { shift; print -l -- ${(M)@:#$words[CURRENT]*} }
_describe() { local each; for each in ${(P)@[-1]}; do [[ $each != $words[CURRENT]* ]] || print -r -- ${each%%:*}; done }
_files() { if [[ $1 == -/ ]]; then print -l -- $words[CURRENT]*(N/); else print -l -- $words[CURRENT]*(N); fi }
source $1
shift
words=(orrery "$@")
CURRENT=$#words
_orrery`},
}

func TestCompletion(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"access.log", "logs.txt"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, shell := range completion.Shells {
		t.Run(shell, func(t *testing.T) {
			script, stderr, code := inProcess(t, "completion", shell)
			if code != exit.Done {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			program, err := exec.LookPath(completers[shell].script)
			if err != nil {
				t.Skipf("%s is not installed", shell)
			}
			path := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, c := range completionCases {
				if c.shell != "" && c.shell != shell {
					continue
				}
				t.Run(c.rule, func(t *testing.T) {
					args := []string{"-c", completers[shell].program}
					if shell == "zsh" {
						args = append([]string{"-f"}, append(args, "zsh")...)
					}
					run := exec.Command(program, append(append(args, path), c.line...)...)
					run.Dir, run.Env = folder, append(os.Environ(), "HOME="+folder)
					output, err := run.CombinedOutput()
					if err != nil {
						t.Fatalf("%v\n%s", err, output)
					}
					var got []string
					for line := range strings.Lines(string(output)) {
						word, _, _ := strings.Cut(strings.TrimRight(line, "/\n"), "\t")
						got = append(got, strings.TrimRight(word, "/"))
					}
					for _, want := range c.want {
						if !slices.Contains(got, want) {
							t.Errorf("%q does not complete to %s:\n%s", c.line, want, output)
						}
					}
					for _, other := range c.without {
						if slices.Contains(got, other) {
							t.Errorf("%q completes to %s", c.line, other)
						}
					}
				})
			}
		})
	}
}

// TestManual writes the manual pages. Each has the flags of its command, and man can print it without a warning.
func TestManual(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man1")
	stdout, stderr, code := inProcess(t, "manual", folder)
	if code != exit.Done || !strings.Contains(stdout, "manual pages in ") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	overview := textOf(t, filepath.Join(folder, "orrery.1"))
	for _, command := range parser.Model.Leaves(true) {
		top := command
		for top.Parent.Parent != nil {
			top = top.Parent
		}
		page := textOf(t, filepath.Join(folder, "orrery-"+top.Name+".1"))
		for _, f := range command.Flags {
			if name := strings.ReplaceAll(f.Name, "-", `\-`); !f.Hidden && !strings.Contains(page, name) {
				t.Errorf("orrery-%s.1 lacks --%s", top.Name, f.Name)
			}
		}
		if !strings.Contains(overview, `orrery\-`+top.Name+" (1)") {
			t.Errorf("orrery.1 lacks %s", top.Name)
		}
	}
	for _, part := range []string{"ORRERY_DATA", "quarantine/ of the data folder"} {
		if !strings.Contains(overview, part) {
			t.Errorf("orrery.1 lacks %s", part)
		}
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed")
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	warnings := exec.Command("groff", append([]string{"-man", "-Tutf8", "-ww", "-z"}, pages...)...)
	if output, err := warnings.CombinedOutput(); err != nil || len(output) > 0 {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestExitCodesOfREADME: the page has the exit codes as the manual has them.
func TestExitCodesOfREADME(t *testing.T) {
	page := regexp.MustCompile("`|\\[|\\]\\([^)]*\\)").ReplaceAllString(textOf(t, "../README.md"), "")
	for _, m := range exit.Meanings {
		if row := "| " + strconv.Itoa(m.Code) + " | " + m.Text + " |\n"; !strings.Contains(page, row) {
			t.Errorf("README.md lacks the row\n%s", row)
		}
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

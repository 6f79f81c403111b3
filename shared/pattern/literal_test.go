package pattern

import (
	"regexp"
	"testing"
)

// TestLiterals: patterns that only look for texts match as Go's engine does, and need no program.
func TestLiterals(t *testing.T) {
	texts := []string{
		"", "/", "/login", "/login/", "/LOGIN", "/login2", "x/login", "/api/login/x", "sqlmap/1.7", "SQLMap", "ſqlmap", "nikto", "Nikto",
		"NI\u212ATO", "a.php", "a.PHP", "a.php?x", "1", "a1b", "B", "bé", "\xff/login", "/login\n", "\n/login", "union select", "é", "ab", "aB",
	}
	for pattern, literal := range map[string]bool{
		`^/login(/|$)`:                         true,
		`^/login`:                              true,
		`login$`:                               true,
		`^/login$`:                             true,
		`^$`:                                   true,
		`$^`:                                   true,
		``:                                     true,
		`a$b`:                                  true,
		`(?i)sqlmap|nikto|nuclei`:              true,
		`(?i)^/login`:                          true,
		`\.(php|asp)x?$`:                       true,
		`[a-c]1`:                               true,
		`(?i)a[0-9]b`:                          false,
		`(?i)ni(?-i)kto`:                       false,
		`(?i)[ab]`:                             true,
		`(?m)^/login`:                          false,
		`/login.*`:                             false,
		`[^a]`:                                 false,
		`é`:                                    false,
		`(?i)é`:                                false,
		`\bunion`:                              false,
		`(a|b|c|d)(a|b|c|d)(a|b|c)`:            true,
		`(a|b|c|d)(a|b|c|d)(a|b|c|d)(a|b|c|d)`: false,
		`[\x00-\x7f]`:                          false,
	} {
		got, _, problem := Parse(pattern, false)
		if problem != nil {
			t.Fatalf("%q: %+v", pattern, problem)
		}
		if got.IsLiteral() != literal {
			t.Errorf("%q looks for texts: %v", pattern, got.IsLiteral())
		}
		reference := regexp.MustCompile(pattern)
		for _, text := range texts {
			if is, want := got.MatchString(text), reference.MatchString(text); is != want {
				t.Errorf("%q matches %q: %v, not %v", pattern, text, is, want)
			}
		}
	}
}

func BenchmarkMatchString(b *testing.B) {
	agent := "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 Safari/537.36"
	for name, c := range map[string]struct{ pattern, text string }{
		"prefix": {`^/login(/|$)`, "/products/1234/reviews"},
		"words":  {`(?i)sqlmap|nikto|nuclei|gobuster|dirbuster|feroxbuster|ffuf|wfuzz|zmeu|masscan|zgrab|wpscan`, agent},
	} {
		b.Run(name, func(b *testing.B) {
			p, _, _ := Parse(c.pattern, false)
			for b.Loop() {
				p.MatchString(c.text)
			}
		})
		b.Run(name+" by the program", func(b *testing.B) {
			p, _, _ := Parse(c.pattern, false)
			p.literals = nil
			for b.Loop() {
				p.MatchString(c.text)
			}
		})
	}
}

package pattern

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// TestJoni: the output contains no syntax that Joni reads differently.
func TestJoni(t *testing.T) {
	for pattern, want := range map[string]string{
		``:                   `(?:)`,
		`abc`:                `abc`,
		`a.c`:                `a[^\x{a}]c`,
		`(?s)a.c`:            `a(?s:.)c`,
		`^a$`:                `\Aa(?!(?s:.))`,
		`(?m)^a$`:            `(?:\A|(?<=\x{a}))a(?![^\x{a}])`,
		`\Aa\z`:              `\Aa(?!(?s:.))`,
		`a-b`:                `a\x{2d}b`,
		`[[a]`:               `[\x{5b}a]`, // Joni nests classes
		`[a&&b]`:             `[\x{26}a-b]`,
		`(?i)k`:              `[Kk\x{212a}]`,
		`(?i)s1`:             `[Ss\x{17f}]1`,
		`(?i)é`:              `[\x{c9}\x{e9}]`,
		`\d`:                 `[0-9]`,
		`\s`:                 `[\x{9}-\x{a}\x{c}-\x{d}\x{20}]`, // without the vertical tab
		`(?P<n>a)`:           `a`,
		`(a)(b|c)`:           `a[b-c]`,
		`(?U)a+`:             `(?:a)+`,
		`a*?`:                `(?:a)*`,
		`a{2}`:               `(?:a){2}`,
		`a{2,}`:              `(?:a){2,}`,
		`a{2,5}`:             `(?:a){2,5}`,
		`ab?`:                `a(?:b)?`,
		`(?:)*x`:             `(?:)x`,
		`(^)*x`:              `(?:\A)*x`,
		`(a+)+b`:             `(?:a)+b`,
		`(a*)*b`:             `(?:a)*b`,
		`(a*)+b`:             `(?:a)*b`,
		`(a+)*b`:             `(?:a)*b`,
		`(a?)*b`:             `(?:a)*b`,
		`(a+)?b`:             `(?:a)*b`,
		`(a{2})+`:            `(?:(?:a){2})+`,
		`(foo|bar)x`:         `(?:foo|bar)x`,
		`(foo|bar)+`:         `(?:foo|bar)+`,
		`[^\x00-\x{10FFFF}]`: `(?!)`,
		`😀`:                  `\x{1f600}`,
		`\b`:                 `(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))`,
		`\B`:                 `(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))`,
	} {
		if got, _ := Joni(pattern); got != want {
			t.Errorf("%s is printed as %s, want %s", pattern, got, want)
		}
	}
}

// TestJoniMatchesRE2 compares random patterns with their translations in Go's engine. Go has no look-arounds, so the
// test first replaces them by the anchors and word boundaries that they come from.
func TestJoniMatchesRE2(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	back := strings.NewReplacer(
		`(?:\A|(?<=\x{a}))`, `(?m:^)`, `(?![^\x{a}])`, `(?m:$)`, `(?!(?s:.))`, `\z`,
		`(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))`, `\b`,
		`(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))`, `\B`,
		`(?!)`, `[^\x00-\x{10FFFF}]`)
	compared := 0
	for compared < 4_000 {
		pattern := randomPattern(random, 4)
		want, err := regexp.Compile(pattern)
		if err != nil {
			continue
		}
		printed, _ := Joni(pattern)
		got, err := regexp.Compile(back.Replace(printed))
		if err != nil {
			t.Fatalf("%s is printed as %s: %v", pattern, printed, err)
		}
		for range 6 {
			text := ""
			for range random.IntN(6) {
				text += regexTexts[random.IntN(len(regexTexts))]
			}
			if want.MatchString(text) != got.MatchString(text) {
				t.Fatalf("%s is printed as %s, which differs on %q", pattern, printed, text)
			}
			compared++
		}
	}
}

// TestAmbiguous: a pattern raises a warning if and only if it may take a backtracking engine exponential time.
func TestAmbiguous(t *testing.T) {
	for _, pattern := range []string{
		`(a|aa)+$`, `(a|ab|b)*c`, `(a+b?)*c`, `(a*b*)*c`, `(a?b?)*c`, `(\w+\s?)*$`, `(.*a){20}`, `(x+x+)+y`,
		`^(([a-z])+.)+[A-Z]([a-z])+$`, `(a?a?)*b`, `(?:a?){30}a{30}b`,
	} {
		if _, warning := Joni(pattern); warning == "" {
			t.Errorf("%s raises no warning", pattern)
		}
	}
	for _, pattern := range []string{
		``, `abc`, `a*`, `.*`, `.*a.*b.*c`, `(a+)+b`, `(ab)*c`, `(a|b)*c`, `(foo|bar)+`, `^/api/(v[0-9]+/)?[a-z]+$`,
		`(?i)union.+select`, `\d{1,3}(\.\d{1,3}){3}`,
		`^[^/]*/[^/]*$`, `(GET|POST|PUT)`, `[\w.]+@[\w]+`, `(a,)*a`, `x{0,1000}`, `(\w+ )*\w`,
		// Simplified to patterns that are not ambiguous.
		`(a|a)*b`, `([a-z]+)*\d`, `(a|[ab])*c`, `(?i)(k|\x{212a})*x`, `(.|\n|a)*x`,
	} {
		if _, warning := Joni(pattern); warning != "" {
			t.Errorf("%s: %s", pattern, warning)
		}
	}
}

// TestAmbiguousIsFast: the analysis of a pattern never takes long, however large the pattern is. An exponential one
// would not end before the tests time out.
func TestAmbiguousIsFast(t *testing.T) {
	words := strings.Repeat("word|", 300)
	for _, pattern := range []string{
		"(?:" + words + "x)*",
		strings.Repeat("(a?b?", 60) + strings.Repeat(")*", 60),
		`((\pL{20}){9})*`,
		strings.Repeat("a?", 500) + "b",
		strings.Repeat("(a|b|c|d)*", 200),
	} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		ambiguous(plain(tree))
	}
}

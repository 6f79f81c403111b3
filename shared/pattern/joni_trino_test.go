package pattern_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/engine/trino/trinotest"
	"github.com/orrery/orrery/shared/pattern"
)

var joniPatterns = flag.Int("joni.patterns", 3_000, "number of random patterns to compare on a real Trino")

// TestJoniMatchesRE2OnTrino compares random patterns in Go's engine with their translations in Trino's engine.
func TestJoniMatchesRE2OnTrino(t *testing.T) {
	url, _ := trinotest.Server(t)
	config := trino.Config{URL: url, Catalog: trinotest.Catalog, Schema: "none", User: "test", Now: time.Now}
	client, err := trino.Connect(config)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 11))
	const textsEach, batch, statement = 6, 100, 800_000 // bytes of a statement; Trino takes 1,000,000
	compared, ambiguous := 0, 0
	for compared < *joniPatterns*textsEach {
		var (
			asked []question
			rows  []string
			size  int
		)
		for len(asked) < batch*textsEach && size < statement {
			written := pattern.RandomPattern(random, 4)
			compiled, err := regexp.Compile(written)
			if err != nil {
				continue
			}
			printed, warning := pattern.Joni(written)
			if len(printed)*textsEach > statement/10 {
				continue
			}
			if warning != "" {
				ambiguous++ // Trino never receives such a pattern
				continue
			}
			for range textsEach {
				text := ""
				for range random.IntN(6) {
					text += pattern.Texts[random.IntN(len(pattern.Texts))]
				}
				literal := strings.ReplaceAll(printed, "'", "''")
				rows = append(rows, fmt.Sprintf("(%d, '%s', '%s')", len(asked), text, literal))
				size += len(rows[len(rows)-1])
				asked = append(asked, question{written, printed, text, compiled.MatchString(text)})
			}
		}
		sql := "SELECT n, regexp_like(text, pattern) FROM (VALUES\n" + strings.Join(rows, ",\n") +
			"\n) AS t(n, text, pattern) ORDER BY n"
		table, err := client.Query(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		if len(table) != len(asked) {
			t.Fatalf("%d answers to %d questions", len(table), len(asked))
		}
		for i, q := range asked {
			if got := *table[i][1] == "true"; got != q.want {
				t.Errorf("%s is printed as %s: on %q Trino returns %v, Go %v",
					q.pattern, q.printed, q.text, got, q.want)
			}
		}
		compared += len(asked)
	}
	t.Logf("%d pairs of pattern and text compared, %d ambiguous patterns left out", compared, ambiguous)
}

type question struct {
	pattern, printed, text string
	want                   bool
}

package sqlgen

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/antlr4-go/antlr/v4"
	"github.com/bytebase/parser/trino"
	"golang.org/x/tools/txtar"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// TestTrinoGrammar parses the Athena SQL of every golden file and of generated filters with Trino's grammar.
func TestTrinoGrammar(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == "athena.sql" {
				parseTrino(t, file, string(f.Data))
			}
		}
	}
	conditions, err := os.ReadFile("testdata/conditions.golden")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(conditions)) {
		if text, ok := strings.CutPrefix(l, "athena   "); ok {
			parseTrino(t, text, "SELECT 1 FROM traffic_fresh WHERE "+text)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	rows := querytest.Rows(random, 50)
	for range 150 {
		text := querytest.Filter(random, rows)
		s, err := Athena(bind(t, text, query.Stats{SegmentSeconds: 4096 * 86_400, GroupByHostname: true}))
		if err != nil {
			t.Fatal(err)
		}
		parseTrino(t, text, s.Statements[0].SQL)
	}
}

func parseTrino(t *testing.T, what, sql string) {
	t.Helper()
	errs := &syntaxErrors{DefaultErrorListener: antlr.NewDefaultErrorListener()}
	lexer := trino.NewTrinoLexer(antlr.NewInputStream(sql + ";"))
	lexer.RemoveErrorListeners()
	lexer.AddErrorListener(errs)
	parser := trino.NewTrinoParser(antlr.NewCommonTokenStream(lexer, antlr.TokenDefaultChannel))
	parser.RemoveErrorListeners()
	parser.AddErrorListener(errs)
	parser.Parse()
	if len(errs.list) > 0 {
		t.Errorf("%s is not valid in Trino: %s\n%s", what, strings.Join(errs.list, "; "), sql)
	}
}

type syntaxErrors struct {
	*antlr.DefaultErrorListener
	list []string
}

func (e *syntaxErrors) SyntaxError(
	_ antlr.Recognizer, _ any, line, column int, message string, _ antlr.RecognitionException,
) {
	e.list = append(e.list, fmt.Sprintf("%d:%d %s", line, column, message))
}

// tokens returns the structure of a statement: the kind of each literal and the text of every other token of Trino's
// lexer. A sign before a number counts as part of the number.
func tokens(sql string) []string {
	lexer := trino.NewTrinoLexer(antlr.NewInputStream(sql))
	lexer.RemoveErrorListeners()
	var out []string
	for {
		token := lexer.NextToken()
		switch kind := token.GetTokenType(); kind {
		case antlr.TokenEOF:
			return out
		case trino.TrinoLexerSTRING_:
			out = append(out, "text")
		case trino.TrinoLexerINTEGER_VALUE_, trino.TrinoLexerDOUBLE_VALUE_, trino.TrinoLexerDECIMAL_VALUE_:
			if n := len(out); n > 0 && out[n-1] == "-" {
				out = out[:n-1]
			}
			out = append(out, "number")
		case trino.TrinoLexerWS_:
		default:
			out = append(out, token.GetText())
		}
	}
}

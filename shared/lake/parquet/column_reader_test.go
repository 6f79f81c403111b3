package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
)

// TestColumnReader compares every column of random rows with the rows, which contain absent, empty and repeated values.
// It reads objects of this program, and objects in which only the first pages of a column use the dictionary.
func TestColumnReader(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 9))
		rows := make([]lake.Row, 1+r.IntN(400))
		present := r.Float64()
		for i := range rows {
			fillRandomly(r, reflect.ValueOf(&rows[i]).Elem(), present)
		}
		parquettest.Sort(rows)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			compareColumns(t, rows, writtenRandomly(t, r, rows))
		})
		t.Run(fmt.Sprint("small dictionaries, seed ", seed), func(t *testing.T) {
			compareColumns(t, rows, writtenPlainly(t, rows))
		})
	}
}

// writtenPlainly writes rows in small pages. Only the first pages have codes.
func writtenPlainly(t *testing.T, rows []lake.Row) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[lake.Row](&out, parquettest.PresentVersion(),
		parquet.Compression(&zstd.Codec{}), parquet.DataPageVersion(1), parquet.DataPageStatistics(true),
		parquet.DictionaryMaxBytes(40), parquet.PageBufferSize(200), parquet.MaxRowsPerRowGroup(150))
	for part := range slices.Chunk(rows, 7) {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// withoutFooter is an object whose last bytes cannot be read.
type withoutFooter struct {
	io.ReaderAt
	size int64
}

func (w withoutFooter) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > w.size {
		return 0, errors.New("the footer is read a second time")
	}
	return w.ReaderAt.ReadAt(p, offset)
}

func compareColumns(t *testing.T, rows []lake.Row, object []byte) {
	t.Helper()
	file, err := OpenColumns(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	groups := file.RowGroups()
	file = file.From(withoutFooter{bytes.NewReader(object), int64(len(object)) - 8})
	var values ColumnValues // reused for every column, as in a scan
	first := 0
	for number, group := range groups {
		in := rows[first : first+group.Rows]
		first += group.Rows
		if least, most := in[0].TsMs, in[len(in)-1].TsMs; group.MinTsMs != least || group.MaxTsMs != most {
			t.Errorf("row group %d is from %d to %d, want %d to %d", number, group.MinTsMs, group.MaxTsMs, least, most)
		}
		for i, column := range lake.Columns {
			for _, member := range membersOf(column.Type) {
				stored, ok := ColumnOf(column.Name, member)
				if !ok {
					t.Fatalf("there is no column %s.%s", column.Name, member)
				}
				if err := file.Read(number, stored, &values); err != nil {
					t.Fatal(err)
				}
				for n := range in {
					want := printed(reflect.ValueOf(in[n]).Field(i), member)
					if diff := cmp.Diff(want, valuesAt(&values, n)); diff != "" {
						t.Fatalf("%s.%s of row %d of group %d (-row +column):\n%s",
							column.Name, member, n, number, diff)
					}
				}
				if text := duplicate(&values); text != "" {
					t.Errorf("%s.%s has two entries %q", column.Name, member, text)
				}
			}
		}
	}
	if first != len(rows) {
		t.Errorf("%d rows of %d", first, len(rows))
	}
}

// membersOf lists the members of a column's structs. For a column without structs it returns one "".
func membersOf(column lake.Type) []string {
	switch column.Kind {
	case lake.List:
		return membersOf(*column.Elem)
	case lake.Struct:
		var names []string
		for _, m := range column.Members {
			names = append(names, m.Name)
		}
		return names
	}
	return []string{""}
}

// printed prints the values of a field of a row, or of a member of its structs.
func printed(v reflect.Value, member string) []string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return printed(v.Elem(), member)
	case reflect.Slice:
		var all []string
		for i := range v.Len() {
			all = append(all, printed(v.Index(i), member)...)
		}
		return all
	case reflect.Struct:
		for i := range v.NumField() {
			if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("parquet"), ","); name == member {
				return printed(v.Field(i), "")
			}
		}
		panic("no member " + member)
	case reflect.Bool:
		if v.Bool() {
			return []string{"1"}
		}
		return []string{"0"}
	}
	return []string{fmt.Sprint(v.Interface())}
}

// valuesAt prints the values of a row in a column.
func valuesAt(v *ColumnValues, row int) []string {
	from, to := int32(row), int32(row+1)
	if len(v.Starts) > 0 {
		from, to = v.Starts[row], v.Starts[row+1]
	}
	var all []string
	for i := from; i < to; i++ {
		switch {
		case len(v.Flags) > 0:
			if v.Flags[i] != Absent {
				all = append(all, fmt.Sprint(v.Flags[i]))
			}
		case len(v.Codes) == 0:
			if len(v.Present) == 0 || v.Present[i] {
				all = append(all, fmt.Sprint(v.Ints[i]))
			}
		case v.Codes[i] == Absent:
		case v.Texts.Len() > 0:
			all = append(all, string(v.Texts.At(v.Codes[i])))
		default:
			all = append(all, fmt.Sprint(v.Ints[v.Codes[i]]))
		}
	}
	return all
}

// duplicate returns an entry that is in the dictionary twice, or "".
func duplicate(v *ColumnValues) string {
	seen := map[string]bool{}
	for i := range int32(v.Texts.Len()) {
		text := string(v.Texts.At(i))
		if seen[text] {
			return text
		}
		seen[text] = true
	}
	return ""
}

// TestColumnReaderDetectsDamage changes single bits of an object. Reading it must not panic, and must fail for at least
// half of the changes.
func TestColumnReaderDetectsDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	r := rand.New(rand.NewPCG(1, 9))
	rows := make([]lake.Row, 120)
	for i := range rows {
		fillRandomly(r, reflect.ValueOf(&rows[i]).Elem(), 0.7)
	}
	object := writtenRandomly(t, r, rows)
	var values ColumnValues
	failures := 0
	for range 300 {
		damaged := bytes.Clone(object)
		damaged[r.IntN(len(damaged))] ^= byte(1 << r.IntN(8))
		if err := readColumns(damaged, &values); err != nil {
			failures++
		}
	}
	if failures < 150 {
		t.Errorf("only %d of 300 damaged objects are detected", failures)
	}
}

func readColumns(object []byte, values *ColumnValues) error {
	in, err := OpenColumns(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		return err
	}
	for number := range in.RowGroups() {
		for _, column := range lake.Columns {
			for _, member := range membersOf(column.Type) {
				stored, _ := ColumnOf(column.Name, member)
				if err := in.Read(number, stored, values); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

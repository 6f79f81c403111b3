package querytest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"

	"github.com/orrery/orrery/shared/lake"
)

// Rows returns n small random records. Every column is absent, hostile, or one of a few values that repeat. The records
// are not realistic; package gen makes realistic ones.
func Rows(r *rand.Rand, n int) []*lake.Row {
	rows := make([]*lake.Row, n)
	for i := range rows {
		rows[i] = &lake.Row{}
		fill(r, reflect.ValueOf(rows[i]).Elem())
		rows[i].TsMs = 1767225600000 + int64(r.IntN(48*3600))*1000 + int64(r.IntN(2))*int64(r.IntN(1000))
		rows[i].TsNanos = int64(r.IntN(2)) * int64(r.IntN(1_000_000))
		rows[i].TimePeriod = rows[i].TsMs / 1000
		rows[i].Source = fmt.Sprint("source", r.IntN(3))
		rows[i].Line = int64(i + 1)
		if ip := rows[i].IP; ip != nil && r.IntN(2) == 0 {
			*ip = AddressText(r, pick(r, someNetworks))
		}
		rows[i].Extra, rows[i].Details, rows[i].RawLine = nil, nil, nil
	}
	return rows
}

var someNetworks = []netip.Prefix{
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("10.32.0.0/11"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("::ffff:0:0/96"), netip.MustParsePrefix("0:0:1::/51"),
}

// fill sets a value at random. Pointers and lists stay nil with a probability of 1/3.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if r.IntN(3) == 0 {
			return
		}
		n := r.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(r, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.String:
		v.SetString(pick(r, words(r)))
	case reflect.Int64:
		v.SetInt(pick(r, []int64{0, 1, 2, 5, 200, 404, 502, 1_500_000, -1, int64(r.IntN(1000))}))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	default:
		panic(fmt.Sprintf("querytest: unknown kind of column %s", v.Kind()))
	}
}

func words(r *rand.Rand) []string {
	return []string{
		"", "name", "Name", "x-name", "svcid", "shop.example", "/login", "GET", "POST",
		"5", "-1.5e3", "007", "0.1", "1e400", "NaN", " 5", "true",
		"a,b", `"quoted"`, `back\slash`, "it's", "100%", "line\nbreak", "tab\t",
		"é", "ſK", "😀", "\u202ertl", "=1+1", "null", "[]", "ab.c",
		strings.Repeat("long ", r.IntN(100)), fmt.Sprint(r.IntN(20)),
	}
}

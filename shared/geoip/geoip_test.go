package geoip

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/geoip/geoiptest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// databases returns a database of cities and one of autonomous systems.
func databases(t *testing.T) *Databases {
	t.Helper()
	cities, systems := filepath.Join(t.TempDir(), "cities.mmdb"), filepath.Join(t.TempDir(), "systems.mmdb")
	named := func(name string) any { return map[string]any{"names": map[string]any{"de": "x", "en": name}} }
	geoiptest.Write(t, cities, map[netip.Prefix]any{
		netip.MustParsePrefix("2001:db8::/32"): map[string]any{
			"country": map[string]any{"iso_code": "DE", "names": map[string]any{"en": "Germany of another version"}},
			"city":    named("Munich"), "subdivisions": []any{named("Bavaria"), named("Upper Bavaria")},
		},
		netip.MustParsePrefix("2001:db9::/32"):     map[string]any{"country": map[string]any{"iso_code": "ZZ"}},
		netip.MustParsePrefix("::203.0.113.0/120"): map[string]any{"country": map[string]any{"iso_code": "FR"}},
	})
	geoiptest.Write(t, systems, map[netip.Prefix]any{
		netip.MustParsePrefix("203.0.113.0/24"): map[string]any{
			"autonomous_system_number": uint32(64496), "autonomous_system_organization": "Example Hosting",
		},
	})
	d, err := Open([]string{cities, systems})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestComplete(t *testing.T) {
	d := databases(t)
	for name, test := range map[string]struct{ record, want string }{
		"a place with its names": {
			`"ip":"2001:db8::7"`, `"country":"Germany","geo_region":"Bavaria","ip":"2001:db8::7",` +
				`"proxy":[{"name":"geo_city","value":"Munich"}]`,
		},
		"a code without names, and the autonomous system": {
			`"ip":"203.0.113.7"`, `"asn":"AS64496","country":"France","ip":"203.0.113.7","organization":"Example Hosting"`,
		},
		"an unknown code": {`"ip":"2001:db9::7"`, `"country":"ZZ","ip":"2001:db9::7"`},
		"an address of IPv4 in one of IPv6": {
			`"ip":"::ffff:203.0.113.7"`,
			`"asn":"AS64496","country":"France","ip":"::ffff:203.0.113.7","organization":"Example Hosting"`,
		},
		"fields of the log stay": {
			`"ip":"2001:db8::7","country":"Italy","geo_region":null,"proxy":[{"name":"geo_city","value":"Rome"}]`,
			`"country":"Italy","ip":"2001:db8::7","proxy":[{"name":"geo_city","value":"Rome"}],"geo_region":null`,
		},
		"entries of proxy stay": {
			`"ip":"2001:db8::7","country":"x","geo_region":"y","proxy":[{"name":"a","value":"b"}]`,
			`"country":"x","geo_region":"y","ip":"2001:db8::7",` +
				`"proxy":[{"name":"a","value":"b"},{"name":"geo_city","value":"Munich"}]`,
		},
		"an unknown address":   {`"ip":"192.0.2.1"`, `"ip":"192.0.2.1"`},
		"a host name":          {`"ip":"client.example"`, `"ip":"client.example"`},
		"no client":            {`"host":"a"`, `"host":"a"`},
		"an address in a zone": {`"ip":"fe80::1%eth0"`, `"ip":"fe80::1%eth0"`},
	} {
		t.Run(name, func(t *testing.T) {
			var row lake.Row
			line := `{"timestamp":"2026-05-17T10:05:03Z","time_period":0,` + test.record + `}`
			if _, err := record.NewDecoder().Decode([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			if err := d.Complete(&row); err != nil {
				t.Fatal(err)
			}
			got := string(record.AppendJSON(nil, &row, nil))
			want := `{` + test.want + `,"time_period":0,"timestamp":"2026-05-17T10:05:03Z"}`
			if !cmp.Equal(members(t, want), members(t, got)) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// members returns the members of a JSON object.
func members(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.mmdb")
	if err := os.WriteFile(file, []byte("no database\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open([]string{file})
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "a.mmdb is not a database of MaxMind") {
		t.Error(err)
	}
	if _, err := Open([]string{file + ".none"}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

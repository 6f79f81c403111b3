package planetdynamo

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planettest"
)

func at() time.Time { return planettest.At }

func open(t testing.TB, options ...func(*dynamodb.Options)) *Store {
	t.Helper()
	client, table := dynamotest.Client(t, options...)
	return over(client, table)
}

// over returns a store that does not wait between retries.
func over(client *dynamodb.Client, table string) *Store {
	s := New(client, table, at)
	s.documents.Pause = func(ctx context.Context, _ int) error { return ctx.Err() }
	return s
}

func TestStore(t *testing.T) {
	planettest.Run(t, func(t *testing.T) planet.Store { return open(t) })
}

func TestSeveralInstancesRace(t *testing.T) {
	client, table := dynamotest.Client(t)
	planettest.Race(t, over(client, table), over(dynamotest.Connect(t), table), over(dynamotest.Connect(t), table))
}

// TestNewDeploymentHasDefaultPlanet: every read returns the default planet, although nothing is written.
func TestNewDeploymentHasDefaultPlanet(t *testing.T) {
	client, table := dynamotest.Client(t)
	s := over(client, table)
	want := planet.NewVersion(1, planet.Default(), "orrery", planettest.At)
	for name, read := range map[string]func() (planet.Version, error){
		"Newest":  func() (planet.Version, error) { return s.Newest(t.Context(), planet.FirstConfig) },
		"Version": func() (planet.Version, error) { return s.Version(t.Context(), planet.FirstConfig, 1) },
	} {
		if v, err := read(); err != nil || v != want {
			t.Errorf("%s: %+v, %v, want %+v", name, v, err, want)
		}
	}
	if list, err := s.Versions(t.Context(), planet.FirstConfig); err != nil || len(list) != 1 || list[0] != want.Info {
		t.Errorf("Versions: %+v, %v", list, err)
	}
	if _, err := s.Version(t.Context(), planet.FirstConfig, 2); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Version 2: %v, want kind NotFound", err)
	}
	if all, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table}); err != nil || all.Count != 0 {
		t.Errorf("%d items were written, %v", all.Count, err)
	}
}

// TestFirstWriteStoresDefaultPlanet: the first write stores the default planet as version 1, whatever its precondition.
func TestFirstWriteStoresDefaultPlanet(t *testing.T) {
	first := planet.NewVersion(1, planet.Default(), "orrery", planettest.At)
	change := func(p planet.Precondition) planet.Change {
		return planet.Change{Settings: planettest.Settings(t, "mine"), By: "key", At: planettest.At, Precondition: p}
	}
	for name, write := range map[string]func(s *Store) (planet.Info, error){
		"put": func(s *Store) (planet.Info, error) {
			return planet.Put(t.Context(), s, planet.FirstConfig, change(planet.Precondition{}))
		},
		"put with the ETag that was read": func(s *Store) (planet.Info, error) {
			unchanged := planet.Precondition{Match: []string{first.ETag}}
			return planet.Put(t.Context(), s, planet.FirstConfig, change(unchanged))
		},
		"restore": func(s *Store) (planet.Info, error) {
			return planet.Restore(t.Context(), s, planet.FirstConfig, 1, change(planet.Precondition{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			_, err := planet.Put(t.Context(), s, planet.FirstConfig, change(planet.Precondition{Absent: true}))
			if fault.KindOf(err) != fault.Conflict {
				t.Errorf("create only: %v, want kind Conflict", err)
			}
			if info, err := write(s); err != nil || info.Number != 2 {
				t.Fatalf("version %d, %v, want 2", info.Number, err)
			}
			if v, err := s.Version(t.Context(), planet.FirstConfig, 1); err != nil || v != first {
				t.Errorf("version 1 is %+v, %v", v, err)
			}
			list, err := s.Versions(t.Context(), planet.FirstConfig)
			if err != nil || len(list) != 2 || list[1] != first.Info {
				t.Errorf("the history is %+v, %v", list, err)
			}
		})
	}
}

// TestConcurrentFirstWrites: all first writes to a new deployment are kept, and the default planet is stored once.
func TestConcurrentFirstWrites(t *testing.T) {
	const writers = 8
	client, table := dynamotest.Client(t)
	var wg sync.WaitGroup
	for w := range writers {
		s := over(dynamotest.Connect(t), table)
		wg.Go(func() {
			settings := planettest.Settings(t, fmt.Sprint("writer ", w))
			change := planet.Change{Settings: settings, By: "key", At: planettest.At}
			if _, err := planet.Put(t.Context(), s, planet.FirstConfig, change); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := over(client, table).Versions(t.Context(), planet.FirstConfig)
	if err != nil || len(list) != writers+1 || list[writers].By != "orrery" || list[writers-1].By != "key" {
		t.Errorf("the history is %+v, %v", list, err)
	}
}

// TestLargestSettingsFit: 350,000 bytes of the text that is longest in an item or in a request.
func TestLargestSettingsFit(t *testing.T) {
	s := open(t)
	for name, filling := range map[string]string{
		"letters":             "x",
		"four byte runes":     "\U0001F6F0",
		"escapes":             `\"`,
		"escaped backslashes": `\\`,
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"name":"n","trusted_nets":[],` +
				`"ichallenge":{"attrs":{"logo":"%s"},"lang":{},"palette":[],"position":{}}}`
			room := planet.MaxBytes - len(body) + len("%s")
			logo := strings.Repeat(filling, room/len(filling))
			body = fmt.Sprintf(body, logo)
			body = body[:len(body)-1] + strings.Repeat(" ", planet.MaxBytes-len(body)) + "}"
			settings, err := planet.Parse([]byte(body))
			if err != nil || len(settings.Text()) < planet.MaxBytes-4 || !utf8.ValidString(body) {
				t.Fatalf("%d bytes, %v", len(settings.Text()), err)
			}
			change := planet.Change{Settings: settings, By: strings.Repeat("k", 64), At: planettest.At}
			if _, err := planet.Put(t.Context(), s, name, change); err != nil {
				t.Fatal(err)
			}
			if v, err := s.Newest(t.Context(), name); err != nil || v.Settings != settings {
				t.Errorf("%d bytes came back, %v", len(v.Settings.Text()), err)
			}
		})
	}
}

// TestVersionsDoesNotReadSettings: 2,000 versions have 40 MB of settings, and listing them transfers a hundredth of
// that.
func TestVersionsDoesNotReadSettings(t *testing.T) {
	const versions = 2000
	client, table := dynamotest.Client(t)
	s := over(client, table)
	settings := planettest.Settings(t, strings.Repeat("x", 20_000))
	for n := 1; n <= versions; n++ {
		if err := s.Append(t.Context(), "long", planet.NewVersion(n, settings, "key", planettest.At)); err != nil {
			t.Fatal(err)
		}
	}
	reads := 0
	counted := over(dynamotest.Connect(t, func(o *dynamodb.Options) { o.HTTPClient = &byteCounter{&reads} }), table)
	list, err := counted.Versions(t.Context(), "long")
	if err != nil || len(list) != versions {
		t.Fatalf("%d versions, %v", len(list), err)
	}
	for i, info := range list {
		if want := planet.NewVersion(versions-i, settings, "key", planettest.At).Info; info != want {
			t.Fatalf("%+v, want %+v", info, want)
		}
	}
	if most := versions * 400; reads > most {
		t.Errorf("the list took %d bytes, at most %d are metadata", reads, most)
	}
	if v, err := s.Newest(t.Context(), "long"); err != nil || v.Number != versions {
		t.Errorf("the newest is %d, %v", v.Number, err)
	}
}

// TestMalformedItemIsAnError: a malformed item is not read as an empty planet.
func TestMalformedItemIsAnError(t *testing.T) {
	client, table := dynamotest.Client(t)
	s := over(client, table)
	for _, key := range []string{"info#0000000001", "settings#0000000001"} {
		item := dynamotable.NewItem("planet#odd", key, dynamotable.Item{"number": dynamotable.String("one")})
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	for name, read := range map[string]func() error{
		"Newest":   func() error { _, err := s.Newest(t.Context(), "odd"); return err },
		"Version":  func() error { _, err := s.Version(t.Context(), "odd", 1); return err },
		"Versions": func() error { _, err := s.Versions(t.Context(), "odd"); return err },
	} {
		err := read()
		if err == nil || fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "planet#odd") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

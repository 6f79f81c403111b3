// Package listsource refreshes lists of values that others publish, from the URLs in orrery.toml.
package listsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/publicnet"
	"github.com/orrery/orrery/shared/tomlfile"
)

// Source is a list and the URL that it is published at.
type Source struct{ Config, Name, URL string }

// String returns the name of the list as filters write it.
func (s Source) String() string {
	if s.Config == planet.FirstConfig {
		return s.Name
	}
	return s.Config + "/" + s.Name
}

// Read returns the sources of lists in the file orrery.toml of a folder, by name. The file may be absent. An error is of kind
// fault.Invalid and names the mistake.
func Read(folder string) ([]Source, error) {
	path := filepath.Join(folder, tomlfile.Name)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var d struct {
		List map[string]struct {
			URL    string `toml:"url"`
			Config string `toml:"config"`
		} `toml:"list"`

		// Other packages read these.
		Keep        any `toml:"keep"`
		Source      any `toml:"source"`
		Mail        any `toml:"mail"`
		Reports     any `toml:"reports"`
		Destination any `toml:"destination"`
	}
	if err := tomlfile.Decode(path, text, &d); err != nil {
		return nil, err
	}
	var sources []Source
	for _, name := range slices.Sorted(maps.Keys(d.List)) {
		s := Source{Config: d.List[name].Config, Name: name, URL: d.List[name].URL}
		if s.Config == "" {
			s.Config = planet.FirstConfig
		}
		if key, wrong := s.mistake(); wrong != "" {
			return nil, fault.New(fault.Invalid, "%s: list.%s%s: %s", path, name, key, wrong)
		}
		sources = append(sources, s)
	}
	return sources, nil
}

var (
	listName   = regexp.MustCompile(`\A` + document.NamePattern + `\z`)
	configName = regexp.MustCompile(`\A` + planet.ConfigPattern + `\z`)
)

// mistake returns the mistake in a source, and the key that has it. The text is "" if there is none.
func (s Source) mistake() (key, text string) {
	switch {
	case !listName.MatchString(s.Name):
		return "", "the name of a list has a-z, 0-9 and -, and at most 64 of them"
	case !configName.MatchString(s.Config):
		return ".config", fmt.Sprintf("%q is not the name of a configuration", s.Config)
	case !publicnet.IsAddress(s.URL):
		return ".url", "it must begin with https://, and have neither a user nor a password"
	}
	return "", ""
}

// The limits of a request for a list.
const (
	MaxBytes      = 32 << 20 // of an answer
	connectTime   = 30 * time.Second
	fetchTime     = 2 * time.Minute
	mostRedirects = 3
)

// Fetch returns the text at a URL, which must lead to a public address, also after redirects. An error does not have the
// URL, which may be a secret.
func Fetch(ctx context.Context, n publicnet.Network, from string) (text []byte, err error) {
	if !publicnet.IsAddress(from) {
		return nil, errors.New("the URL must begin with https://, and have neither a user nor a password")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	client := n.Client(connectTime)
	client.CheckRedirect = func(next *http.Request, before []*http.Request) error {
		if len(before) > mostRedirects || !publicnet.IsAddress(next.URL.String()) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, errors.New("the URL is not valid")
	}
	request.Header.Set("User-Agent", "orrery")
	answer, err := client.Do(request)
	if err != nil {
		return nil, publicnet.Cause(err)
	}
	defer func() { _ = answer.Body.Close() }() // all of it was read, or it is not needed
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("its server answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == "text/html" {
		return nil, errors.New("its server answers with a web page, not with a list")
	}
	text, err = io.ReadAll(io.LimitReader(answer.Body, MaxBytes+1))
	switch {
	case err != nil:
		return nil, publicnet.Cause(err)
	case len(text) > MaxBytes:
		return nil, fmt.Errorf("the answer has more than %d MB", MaxBytes>>20)
	}
	return text, nil
}

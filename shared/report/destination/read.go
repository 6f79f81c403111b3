package destination

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report/link"
	"github.com/orrery/orrery/shared/tomlfile"
)

// FileName is the name of the file in the data folder. Packages ingest/source and valuelist/listsource read the rest of it.
const FileName = tomlfile.Name

// JSONVariable is the variable with the settings on AWS, in the form that ReadJSON reads.
const JSONVariable = "ORRERY_REPORTS"

// document is the content of the file, and, without Source, of the variable.
type document struct {
	Mail *struct {
		Server           string   `toml:"server" json:"server"`
		SES              bool     `toml:"ses" json:"ses"`
		From             string   `toml:"from" json:"from"`
		Domains          []string `toml:"domains" json:"domains"`
		User             string   `toml:"user" json:"user"`
		PasswordFile     string   `toml:"password-file" json:"password-file"`
		ConfigurationSet string   `toml:"configuration-set" json:"configuration-set"`
	} `toml:"mail" json:"mail"`
	Reports struct {
		Link  string `toml:"link" json:"link"`
		Delay string `toml:"delay" json:"delay"`
	} `toml:"reports" json:"reports"`
	Destination map[string]table `toml:"destination" json:"destination"`
	Source      map[string]any   `toml:"source" json:"-"`
	List        map[string]any   `toml:"list" json:"-"`
	Keep        any              `toml:"keep" json:"-"`
}

// The variables of the environment, which override the file.
const (
	serverVariable   = "ORRERY_MAIL_SERVER"
	fromVariable     = "ORRERY_MAIL_FROM"
	domainsVariable  = "ORRERY_MAIL_DOMAINS"
	userVariable     = "ORRERY_MAIL_USER"
	passwordVariable = "ORRERY_MAIL_PASSWORD"
)

// Variables lists the variables of the environment that Read reads.
func Variables() []string {
	return []string{serverVariable, fromVariable, domainsVariable, userVariable, passwordVariable}
}

// Read returns the settings of a data folder. The file may be absent. An error of kind fault.Invalid names the mistake.
func Read(folder string, lookup func(string) (string, bool)) (Settings, error) {
	path := filepath.Join(folder, FileName)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Settings{}, err
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return Settings{}, err
	}
	var d document
	if err := tomlfile.Decode(path, text, &d); err != nil {
		return Settings{}, err
	}
	s, err := d.settings()
	if err == nil {
		s.resolve(absolute)
		err = s.override(lookup)
	}
	if err != nil {
		return Settings{}, fault.New(fault.Invalid, "%s: %v", path, err)
	}
	return s, nil
}

// ReadJSON returns the settings of a deployment on AWS from the text of the variable, a JSON object with the members of
// the file. The text may be empty. AWS has no folders and files, and mail is sent by SES. An error of kind
// fault.Invalid names the mistake.
func ReadJSON(text string) (Settings, error) {
	var d document
	if strings.TrimSpace(text) != "" {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&d)
		if _, rest := decoder.Token(); err == nil && !errors.Is(rest, io.EOF) {
			err = errors.New("there is more text after the object")
		}
		if err != nil {
			return Settings{}, fault.New(fault.Invalid, "%s: %s", JSONVariable, strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	s, err := d.settings()
	if err == nil {
		err = s.checkAWS()
	}
	if err != nil {
		return Settings{}, fault.New(fault.Invalid, "%s: %v", JSONVariable, err)
	}
	return s, nil
}

// settings returns the settings of a document. It does not check the settings of mail, because variables can change
// them.
func (d document) settings() (Settings, error) {
	s := Settings{Delay: DefaultDelay, Destinations: map[string]Destination{}}
	for _, name := range slices.Sorted(maps.Keys(d.Destination)) {
		if !destinationName.MatchString(name) {
			return s, fmt.Errorf("destination.%s: the name of a destination has letters, digits, '-' and '_' only", name)
		}
		to, err := d.Destination[name].destination()
		if err != nil {
			return s, fmt.Errorf("destination.%s: %w", name, err)
		}
		s.Destinations[name] = to
	}
	if d.Reports.Delay != "" {
		var err error
		if s.Delay, err = time.ParseDuration(d.Reports.Delay); err != nil || s.Delay < 0 {
			return s, fmt.Errorf("reports.delay: %q is not a duration, such as 90m", d.Reports.Delay)
		}
	}
	s.Link = d.Reports.Link
	if wrong := link.Check(s.Link); wrong != "" {
		return s, fmt.Errorf("reports.link: %s", wrong)
	}
	if strings.ContainsAny(s.Link, "<> ") {
		return s, errors.New("reports.link: it has a space, < or >, which links in mails cannot have")
	}
	if m := d.Mail; m != nil {
		s.Mail = &Mail{
			Server: m.Server, From: m.From, Domains: m.Domains, User: m.User, PasswordFile: m.PasswordFile,
			SES: m.SES, ConfigurationSet: m.ConfigurationSet,
		}
	}
	return s, nil
}

// resolve makes relative paths absolute: they are relative to a folder.
func (s *Settings) resolve(folder string) {
	within := func(path string) string {
		if path = filepath.FromSlash(path); path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(folder, path)
	}
	if s.Mail != nil {
		s.Mail.PasswordFile = within(s.Mail.PasswordFile)
	}
	for name, to := range s.Destinations {
		switch to := to.(type) {
		case Folder:
			s.Destinations[name] = Folder{within(to.Path)}
		case Slack:
			to.URL.File = within(to.URL.File)
			s.Destinations[name] = to
		case Webhook:
			to.URL.File, to.Signing.File = within(to.URL.File), within(to.Signing.File)
			s.Destinations[name] = to
		}
	}
}

// override sets the settings of mail for which there are variables, and checks all settings of mail.
func (s *Settings) override(lookup func(string) (string, bool)) error {
	m, given := Mail{}, s.Mail != nil
	if given {
		m = *s.Mail
	}
	for name, value := range map[string]*string{
		serverVariable: &m.Server, fromVariable: &m.From, userVariable: &m.User, passwordVariable: &m.Password,
	} {
		if text, ok := lookup(name); ok && text != "" {
			*value, given = text, true
			if name == serverVariable {
				m.SES, m.ConfigurationSet = false, ""
			}
		}
	}
	if text, ok := lookup(domainsVariable); ok && text != "" {
		m.Domains, given = strings.Split(text, ","), true
	}
	if !given {
		return nil
	}
	s.Mail = &m
	return m.check(true)
}

// checkAWS returns an error if the settings use something that does not exist on AWS.
func (s *Settings) checkAWS() error {
	for _, name := range slices.Sorted(maps.Keys(s.Destinations)) {
		where := "destination." + name
		switch to := s.Destinations[name].(type) {
		case Folder:
			return fmt.Errorf("%s.folder: there are no folders on AWS; name a bucket", where)
		case Slack:
			if to.URL.File != "" {
				return fmt.Errorf("%s.slack-url-file: there are no files on AWS; name a slack-parameter", where)
			}
		case Webhook:
			if to.URL.File != "" {
				return fmt.Errorf("%s.webhook-url-file: there are no files on AWS; name a webhook-parameter", where)
			}
			if to.Signing.File != "" {
				return fmt.Errorf("%s.webhook-secret-file: there are no files on AWS; name a webhook-secret-parameter", where)
			}
		}
	}
	if s.Mail == nil {
		return nil
	}
	if !s.Mail.SES {
		return errors.New("mail: mail is sent by SES on AWS; set ses to true")
	}
	return s.Mail.check(false)
}

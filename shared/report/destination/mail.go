package destination

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"regexp"
	"slices"
	"strings"
)

// Mail is how mail is sent: by an SMTP server, or by Amazon SES.
type Mail struct {
	Server       string   // host:port of the SMTP server
	From         string   // the sender, "Orrery <orrery@example.com>"
	Domains      []string // to which mail may be sent, in lower case, sorted
	User         string   // "": without authentication
	PasswordFile string   // its first line is the password
	Password     string   // from the environment; "": in the file

	SES              bool   // instead of a server
	ConfigurationSet string // of SES, which has the topic of bounces; "": none
}

// key returns the name of a setting of mail for an error, with the variable that sets it unless variable is "".
func (v variables) key(name, variable string) string {
	if !v {
		return "mail." + name
	}
	return fmt.Sprintf("mail.%s (%s)", name, variable)
}

// variables is whether settings can also be set by variables of the environment.
type variables bool

// check completes the settings of mail, and returns an error if they are not usable.
func (m *Mail) check(v variables) error {
	if err := m.checkServer(v); err != nil {
		return err
	}
	if _, err := mail.ParseAddress(m.From); err != nil {
		return fmt.Errorf("%s: %q is not an address, such as Orrery <orrery@example.com>", v.key("from", fromVariable), m.From)
	}
	domains := make([]string, 0, len(m.Domains))
	for _, domain := range m.Domains {
		domain = strings.ToLower(strings.TrimSpace(domain))
		if !domainName.MatchString(domain) {
			return fmt.Errorf("%s: %q is not a domain, such as example.com", v.key("domains", domainsVariable), domain)
		}
		domains = append(domains, domain)
	}
	slices.Sort(domains)
	if m.Domains = slices.Compact(domains); len(m.Domains) == 0 {
		return fmt.Errorf("%s: name the domains that mail may be sent to", v.key("domains", domainsVariable))
	}
	return nil
}

var (
	domainName       = regexp.MustCompile(`\A[a-z0-9]([a-z0-9.-]*[a-z0-9])?\z`)
	configurationSet = regexp.MustCompile(`\A[A-Za-z0-9_-]{1,64}\z`)
)

// checkServer checks the server, or SES, that sends the mail.
func (m *Mail) checkServer(v variables) error {
	if m.SES {
		switch {
		case m.Server != "":
			return errors.New("mail: has ses and server; remove one of them")
		case m.User != "" || m.PasswordFile != "":
			return errors.New("mail.user: SES uses the credentials of AWS; remove user and password-file")
		case m.ConfigurationSet != "" && !configurationSet.MatchString(m.ConfigurationSet):
			return fmt.Errorf("mail.configuration-set: %q is not the name of a configuration set of SES", m.ConfigurationSet)
		}
		return nil
	}
	if m.ConfigurationSet != "" {
		return errors.New("mail.configuration-set: it is of SES; set ses = true, or remove it")
	}
	if host, port, err := net.SplitHostPort(m.Server); err != nil || host == "" || port == "" {
		return fmt.Errorf("%s: %q is not HOST:PORT, such as smtp.example.com:587; or set ses = true",
			v.key("server", serverVariable), m.Server)
	}
	if m.User != "" && m.PasswordFile == "" && m.Password == "" {
		return fmt.Errorf("%s: it needs a password: mail.password-file, or %s", v.key("user", userVariable), passwordVariable)
	}
	return nil
}

// Secret returns the password. It is read when it is needed, so that it can be changed.
func (m Mail) Secret() (string, error) {
	if m.Password != "" || m.PasswordFile == "" {
		return m.Password, nil
	}
	password, err := firstLine(m.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("read the password of the mail server: %w", err)
	}
	return password, nil
}

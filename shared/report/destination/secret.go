package destination

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// Secret is where a secret is: in a file, or in a parameter of AWS Systems Manager. The zero value is no secret.
type Secret struct {
	File      string // its first line
	Parameter string // its name
}

// String returns the place.
func (s Secret) String() string {
	if s.Parameter != "" {
		return "the parameter " + s.Parameter
	}
	return s.File
}

// firstLine returns the first line of a file.
func firstLine(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(first, "\r"), nil
}

// ReadFile returns the secret of a file. It is read when it is needed, so that it can be changed.
func (s Secret) ReadFile() (string, error) { return firstLine(s.File) }

// Exposed returns the files with secrets that every user of this machine may read, sorted. A file that cannot be
// examined is not among them, because a delivery that needs it reports the error. On Windows, files have no modes that
// say who may read them.
func (s Settings) Exposed() (files []string) {
	if runtime.GOOS == "windows" {
		return nil
	}
	var secrets []string
	if s.Mail != nil {
		secrets = append(secrets, s.Mail.PasswordFile)
	}
	for _, to := range s.Destinations {
		switch to := to.(type) {
		case Slack:
			secrets = append(secrets, to.URL.File)
		case Webhook:
			secrets = append(secrets, to.URL.File, to.Signing.File)
		}
	}
	slices.Sort(secrets)
	for _, file := range slices.Compact(secrets) {
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o004 != 0 {
			files = append(files, file)
		}
	}
	return files
}

package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// linux has the files of the service, and the scripts of the packages.
//
//go:embed linux
var linux embed.FS

// installed is a file of a package where it is installed.
type installed struct {
	file
	config bool // the changes of an administrator are kept
}

// rpmZsh is the folder of completions for zsh in Fedora and its relatives. Debian has another.
const (
	debZsh = "/usr/share/zsh/vendor-completions"
	rpmZsh = "/usr/share/zsh/site-functions"
)

// packageFiles returns the files of a package.
func (c common) packageFiles(program, licences []byte, zsh string) ([]installed, error) {
	plain := func(path string, content []byte) installed { return installed{file: file{path, 0o644, content}} }
	files := []installed{
		{file: file{"/usr/bin/orrery", 0o755, program}}, plain("/usr/share/doc/orrery/"+licencesFile, licences),
	}
	for _, f := range c.texts {
		name := f.name
		if name == "LICENSE" {
			name = "copyright"
		}
		files = append(files, plain("/usr/share/doc/orrery/"+name, f.content))
	}
	for _, f := range c.guides {
		files = append(files, plain("/usr/share/doc/orrery/doc/"+f.name, f.content))
	}
	for _, f := range c.manual {
		page, err := gzipped(f.content)
		if err != nil {
			return nil, err
		}
		files = append(files, plain("/usr/share/man/man1/"+f.name+".gz", page))
	}
	for _, f := range c.completions {
		path := map[string]string{
			"orrery.bash": "/usr/share/bash-completion/completions/orrery",
			"orrery.fish": "/usr/share/fish/vendor_completions.d/orrery.fish",
			"_orrery":     zsh + "/_orrery",
		}[f.name]
		files = append(files, plain(path, f.content))
	}
	for _, f := range []struct {
		name, path string
		mode       fs.FileMode
		config     bool
	}{
		{"orrery.service", "/usr/lib/systemd/system/orrery.service", 0o644, false},
		{"sysusers.conf", "/usr/lib/sysusers.d/orrery.conf", 0o644, false},
		{"orrery.toml", "/etc/orrery/orrery.toml", 0o644, true},
		{"environment", "/etc/orrery/environment", 0o600, true},
	} {
		content, err := linux.ReadFile("linux/" + f.name)
		if err != nil {
			return nil, err
		}
		files = append(files, installed{file{f.path, f.mode, content}, f.config})
	}
	return files, nil
}

// nfpmContent and nfpmConfig are the parts of nfpm's configuration that packages need. nfpm reads YAML, which includes JSON.
type nfpmContent struct {
	Source      string       `json:"src"`
	Destination string       `json:"dst"`
	Type        string       `json:"type,omitempty"`
	Info        nfpmFileInfo `json:"file_info"`
}

type nfpmFileInfo struct {
	Mode  fs.FileMode `json:"mode"`
	Time  time.Time   `json:"mtime"`
	Owner string      `json:"owner"`
	Group string      `json:"group"`
}

type nfpmConfig struct {
	Name        string            `json:"name"`
	Arch        string            `json:"arch"`
	Platform    string            `json:"platform"`
	Version     string            `json:"version"`
	Time        time.Time         `json:"mtime"`
	Section     string            `json:"section"`
	Priority    string            `json:"priority"`
	Maintainer  string            `json:"maintainer"`
	Description string            `json:"description"`
	Licence     string            `json:"license"`
	Contents    []nfpmContent     `json:"contents"`
	Scripts     map[string]string `json:"scripts"`
	RPM         struct {
		Group     string `json:"group"`
		Summary   string `json:"summary"`
		BuildHost string `json:"buildhost"`
	} `json:"rpm"`
}

// writePackages writes the packages of a platform for Debian and Fedora and their relatives.
func (r *release) writePackages(ctx context.Context, p platform, c common, program, licences []byte) error {
	for _, kind := range []struct{ name, zsh, file string }{
		{"deb", debZsh, fmt.Sprintf("orrery_%s_%s.deb", r.version, p.arch)},
		{"rpm", rpmZsh, fmt.Sprintf("orrery_%s_%s.rpm", r.version, p.arch)},
	} {
		files, err := c.packageFiles(program, licences, kind.zsh)
		if err != nil {
			return err
		}
		folder := filepath.Join(r.work, kind.name+"-"+p.arch)
		config, err := r.packageConfig(folder, p, files)
		if err != nil {
			return err
		}
		target := filepath.Join(folder, kind.file)
		if _, err := nfpm.run(ctx, "package", "--config", config, "--packager", kind.name, "--target", target); err != nil {
			return err
		}
		content, err := os.ReadFile(target)
		if err != nil {
			return err
		}
		if err := r.write(kind.file, content); err != nil {
			return err
		}
	}
	return nil
}

// packageConfig writes the files of a package and its configuration into a folder, and returns the path of the latter.
func (r *release) packageConfig(folder string, p platform, files []installed) (string, error) {
	c := nfpmConfig{
		Name: "orrery", Arch: p.arch, Platform: p.os, Version: r.version, Time: then, Section: "web", Priority: "optional",
		Maintainer: "Orrery <orrery@localhost>", Licence: "Apache-2.0",
		Description: "answers questions about the traffic through a web security gateway\n" +
			"Orrery imports request logs and answers questions about them, in a browser console and by an API.",
		Scripts: map[string]string{},
	}
	c.RPM.Summary, c.RPM.Group, c.RPM.BuildHost = strings.SplitN(c.Description, "\n", 2)[0], "Applications/Internet", "localhost"
	for _, f := range files {
		source := filepath.Join(folder, "files", filepath.FromSlash(f.name))
		if err := writeBelow(source, f.content, f.mode); err != nil {
			return "", err
		}
		one := nfpmContent{Source: source, Destination: f.name, Info: nfpmFileInfo{f.mode, then, "root", "root"}}
		if f.config {
			one.Type = "config|noreplace"
		}
		c.Contents = append(c.Contents, one)
	}
	c.Contents = append(c.Contents, nfpmContent{
		Destination: "/etc/orrery", Type: "dir", Info: nfpmFileInfo{0o755, then, "root", "root"},
	})
	for name, script := range map[string]string{
		"postinstall": "postinst.sh", "preremove": "prerm.sh", "postremove": "postrm.sh",
	} {
		content, err := linux.ReadFile("linux/" + script)
		if err != nil {
			return "", err
		}
		c.Scripts[name] = filepath.Join(folder, script)
		if err := writeBelow(c.Scripts[name], content, 0o755); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "nfpm.yaml")
	return path, writeBelow(path, text, 0o644)
}

// writeBelow writes a file and creates its folder.
func writeBelow(path string, content []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, mode)
}

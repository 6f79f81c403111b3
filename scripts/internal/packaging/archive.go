package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// file is a file of an archive or a package.
type file struct {
	name    string // with slashes
	mode    fs.FileMode
	content []byte
}

func sortFiles(files []file) {
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

// below returns files in a folder.
func below(folder string, files []file) []file {
	moved := slices.Clone(files)
	for i := range moved {
		moved[i].name = path.Join(folder, moved[i].name)
	}
	return moved
}

// filesOf returns the files in a folder and its subfolders, in order.
func filesOf(folder string) ([]file, error) {
	return filesWith(folder, func(string) bool { return true })
}

// filesWith is filesOf for the files whose paths are wanted.
func filesWith(folder string, wanted func(path string) bool) ([]file, error) {
	var files []file
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !wanted(filepath.ToSlash(name)) {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, name)
		files = append(files, file{filepath.ToSlash(relative), 0o644, content})
		return err
	})
	sortFiles(files)
	return files, err
}

// platformName is the beginning of the names of files of a platform.
func (r *release) platformName(p platform) string {
	return fmt.Sprintf("orrery_%s_%s_%s", r.version, p.os, p.arch)
}

// writeArchive writes the archive of a platform: a zip for Windows, else a compressed tar. All files are in a folder.
func (r *release) writeArchive(p platform, files []file) error {
	name := r.platformName(p)
	files = below(name, files)
	sortFiles(files)
	pack, extension := tarGz, ".tar.gz"
	if p.os == "windows" {
		pack, extension = zipped, ".zip"
	}
	content, err := pack(files)
	if err != nil {
		return err
	}
	return r.write(name+extension, content)
}

// tarGz returns a compressed tar of files.
func tarGz(files []file) ([]byte, error) {
	archive, err := tarred(files)
	if err != nil {
		return nil, err
	}
	return gzipped(archive)
}

// tarred returns a tar of files.
func tarred(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := addToTar(w, f); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// addToTar adds a file that belongs to root.
func addToTar(w *tar.Writer, f file) error {
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.content)), ModTime: then,
	}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err := w.Write(f.content)
	return err
}

// zipped returns a zip of files.
func zipped(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: then}
		header.SetMode(f.mode)
		part, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// gzipped compresses a content.
func gzipped(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// checksumsFile lists the SHA-256 of all other files, as sha256sum --check reads it.
const checksumsFile = "SHA256SUMS"

func (r *release) writeChecksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, e := range entries {
		sum, err := checksum(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sum, e.Name())
	}
	return r.write(checksumsFile, []byte(lines.String()))
}

func checksum(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return sum.Sum(nil), errors.Join(err, f.Close())
}

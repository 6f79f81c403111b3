// Console builds the browser console: it writes the types of answers into src, and dist from src and vendor, all in shared/console. It also writes dist.zip,
// which programs contain. Run it in a checkout after every change of the sources.
//
//	go run ./scripts/console
//
// The same sources give the same bytes, on every machine. It needs neither Node nor a network.
package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/flate"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("console: ")
	if len(os.Args) > 1 {
		log.Fatal("it takes no arguments; run it in the root folder of the checkout")
	}
	folder := filepath.Join("shared", "console")
	for _, types := range typesFiles {
		if err := os.WriteFile(filepath.Join(folder, types.path), types.content(), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	files, err := build(folder)
	if err != nil {
		log.Fatal(err)
	}
	if err := write(filepath.Join(folder, "dist"), files); err != nil {
		log.Fatal(err)
	}
	archive, err := zipped(files)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "dist.zip"), archive, 0o644); err != nil {
		log.Fatal(err)
	}
}

// write replaces the files of a folder.
func write(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	old, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range old {
		if files[entry.Name()] == nil {
			if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil {
				return err
			}
		}
	}
	for _, name := range namesOf(files) {
		if err := os.WriteFile(filepath.Join(folder, name), files[name], 0o644); err != nil {
			return err
		}
		fmt.Printf("%-24s %7d bytes\n", name, len(files[name]))
	}
	return nil
}

// zipped returns a zip of files. It does not compress with the standard library, whose releases may give other bytes.
func zipped(files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(to, flate.BestCompression)
	})
	for _, name := range namesOf(files) {
		file, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func namesOf(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

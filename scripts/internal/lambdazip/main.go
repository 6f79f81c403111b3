// Command lambdazip packs programs for AWS Lambda: each file of the folder IN becomes OUT/FILE.zip, which contains the
// program as "bootstrap". The same programs always give the same bytes.
//
// A program of more than MOST bytes is an error, because Lambda reads the whole program before its first answer.
// NAME=MOST sets the limit of one program.
package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: lambdazip IN OUT MOST [NAME=MOST…]")
		os.Exit(2)
	}
	most := map[string]int{}
	for _, limit := range os.Args[3:] {
		name, number, named := strings.Cut(limit, "=")
		if !named {
			name, number = "", limit
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			fmt.Fprintf(os.Stderr, "lambdazip: %q is not a number of bytes\n", number)
			os.Exit(2)
		}
		most[name] = n
	}
	if err := pack(os.Args[1], os.Args[2], most, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "lambdazip:", err)
		os.Exit(1)
	}
}

// pack packs every program of a folder and prints the sizes to output. It also packs programs that are too large, and
// returns an error that names them. limits has the largest sizes by the names of programs, and by "" for all others.
func pack(in, out string, limits map[string]int, output io.Writer) error {
	programs, err := os.ReadDir(in)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var tooLarge []error
	for _, entry := range programs {
		program, err := os.ReadFile(filepath.Join(in, entry.Name()))
		if err != nil {
			return err
		}
		zipped, err := zipOf(program)
		if err != nil {
			return fmt.Errorf("pack %s: %w", entry.Name(), err)
		}
		if err := replaceFile(filepath.Join(out, entry.Name()+".zip"), zipped); err != nil {
			return err
		}
		fmt.Fprintf(output, "%-16s %10d bytes, zipped %9d\n", entry.Name(), len(program), len(zipped))
		most, own := limits[entry.Name()]
		if !own {
			most = limits[""]
		}
		if len(program) > most {
			tooLarge = append(tooLarge, fmt.Errorf(
				"%s has %d bytes, more than %d: go tool nm -size -sort size lists its contents",
				entry.Name(), len(program), most))
		}
	}
	return errors.Join(tooLarge...)
}

// replaceFile replaces a file, which another build may be reading.
func replaceFile(path string, content []byte) error {
	part := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	if err := os.WriteFile(part, content, 0o644); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, path)
}

// zipOf returns the archive of one program.
func zipOf(program []byte) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	header := &zip.FileHeader{
		Name: "bootstrap", Method: zip.Deflate,
		Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), // the earliest time that a zip can represent
	}
	header.SetMode(0o755)
	file, err := w.CreateHeader(header)
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(program); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Command lambdazip packs programs as AWS Lambda wants them: each file of the folder IN becomes OUT/FILE.zip with the
// program as "bootstrap" in it. The same programs give the same bytes, whoever packs them, wherever and whenever.
//
// A program of more than MOST bytes is an error: it is read whole before its first answer.
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
	"time"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: lambdazip IN OUT MOST")
		os.Exit(2)
	}
	most, err := strconv.Atoi(os.Args[3])
	if err != nil {
		fmt.Fprintf(os.Stderr, "lambdazip: %q is no number of bytes\n", os.Args[3])
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2], most, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "lambdazip:", err)
		os.Exit(1)
	}
}

// pack packs every program of a folder and tells their sizes. Too large ones are packed, too, and told as the error.
func pack(in, out string, most int, told io.Writer) error {
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
		if err := os.WriteFile(filepath.Join(out, entry.Name()+".zip"), zipped, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(told, "%-16s %10d bytes, zipped %9d\n", entry.Name(), len(program), len(zipped))
		if len(program) > most {
			tooLarge = append(tooLarge, fmt.Errorf("%s has %d bytes, more than %d: go tool nm -size -sort size tells what is in it", entry.Name(), len(program), most))
		}
	}
	return errors.Join(tooLarge...)
}

// zipOf is the archive of one program.
func zipOf(program []byte) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	header := &zip.FileHeader{
		Name: "bootstrap", Method: zip.Deflate,
		Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), // the first that a zip can tell
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

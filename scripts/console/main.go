// Console builds the browser console: it writes the types of answers into src, and dist from src and vendor, all in shared/console. Run it in a checkout
// after every change of the sources.
//
//	go run ./scripts/console
//
// The same sources give the same bytes, on every machine. It needs neither Node nor a network.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
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

func namesOf(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Package examples has requests and their responses. Tests send the requests to a server, and the OpenAPI document
// shows both.
package examples

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/textproto"
	"strconv"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
)

// A file is named OPERATION.STATUS.NAME.http and has the format
//
//	A summary in one line.
//	given: optional settings of the server; see the test
//	--- request
//	the request as sent
//	--- response
//	the response
//
//go:embed *.http
var exampleFiles embed.FS

// All returns all examples.
var All = sync.OnceValue(readExamples)

// Example is a request and its response.
type Example struct {
	File      string
	Operation string
	Status    int
	Name      string
	Summary   string
	Setup     []string // settings of the server; see the test
	Request   Message
	Response  Message
}

// Message is a request or a response.
type Message struct {
	Head string // first line and headers
	Body string
}

func readExamples() []*Example {
	files, err := fs.Glob(exampleFiles, "*.http")
	if err != nil {
		panic(err) // the pattern is well-formed
	}
	var list []*Example
	for _, file := range files {
		text, err := exampleFiles.ReadFile(file)
		if err != nil {
			panic(err) // Glob has found it
		}
		e, err := readExample(file, string(text))
		if err != nil {
			panic(err)
		}
		list = append(list, e)
	}
	return list
}

func readExample(file, text string) (*Example, error) {
	about, rest, ok1 := strings.Cut(text, "--- request\n")
	request, response, ok2 := strings.Cut(rest, "--- response\n")
	parts := strings.SplitN(strings.TrimSuffix(file, ".http"), ".", 3)
	if !ok1 || !ok2 || len(parts) != 3 {
		return nil, fmt.Errorf("examples: example %s does not have the format of the comment in examples.go", file)
	}
	status, err := strconv.Atoi(parts[1])
	if err != nil {
		return nil, fmt.Errorf("examples: example %s: %w", file, err)
	}
	e := &Example{File: file, Operation: parts[0], Status: status, Name: parts[2]}
	e.Summary, about, _ = strings.Cut(about, "\n")
	if setup, ok := strings.CutPrefix(strings.TrimSpace(about), "given: "); ok {
		e.Setup = strings.Split(setup, ", ")
	}
	e.Request, e.Response = ReadMessage(request), ReadMessage(response)
	return e, nil
}

// ReadMessage reads a request or a response as a file has it.
func ReadMessage(text string) Message {
	head, body, _ := strings.Cut(text, "\n\n")
	return Message{strings.TrimRight(head, "\n"), strings.TrimRight(body, "\n")}
}

// Content returns the body with its type.
func (m Message) Content() parameter.Body {
	sent := parameter.Body{Text: []byte(m.Body)}
	for _, line := range strings.Split(m.Head, "\n")[1:] {
		name, value, _ := strings.Cut(line, ":")
		if textproto.CanonicalMIMEHeaderKey(name) == "Content-Type" {
			mediaType, options, _ := mime.ParseMediaType(value)
			sent.MediaType, sent.Boundary = mediaType, options["boundary"]
		}
	}
	return sent
}

// MediaType returns the type of the body.
func (m Message) MediaType() string { return m.Content().MediaType }

// Of returns the examples of an operation and a status; "" and 0 match any.
func Of(operation string, status int) []*Example {
	var list []*Example
	for _, e := range All() {
		if (operation == "" || e.Operation == operation) && (status == 0 || e.Status == status) {
			list = append(list, e)
		}
	}
	return list
}

// ErrorsAsText returns error examples converted to text. Mistakes of a filter are left out: their text contains the
// filter, which the JSON does not have.
func ErrorsAsText(examples []*Example) []*Example {
	var list []*Example
	for _, e := range examples {
		var body problem.Error
		if e.Response.MediaType() != content.JSON {
			continue
		}
		if err := json.Unmarshal([]byte(e.Response.Body), &body); err != nil {
			panic(fmt.Sprintf("examples: example %s: %v", e.Name, err))
		}
		if len(body.Errors) == 0 {
			asText := *e
			asText.Response = Message{
				Head: strings.Replace(e.Response.Head, content.JSON, content.Text+"; charset=utf-8", 1),
				Body: strings.TrimRight(string(body.Text()), "\n"),
			}
			list = append(list, &asText)
		}
	}
	return list
}

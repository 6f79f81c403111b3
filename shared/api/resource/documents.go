package resource

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
)

// documents serves a kind of documents: its routes list them, and read, write, delete and restore their versions.
type documents struct {
	*server
	store document.Store
	limit int64 // of a body, in bytes
	// find returns the document in the path: named, unless a configuration has one document of the kind.
	find  func(c *route.Call) (document.ID, error)
	types []string // of a body; nil: JSON
	// parse reads a document from a body.
	parse func(c *route.Call, body []byte) (replacement, error)
	// show returns a version as the API shows it, as JSON.
	show func(id document.ID, v document.Version) ([]byte, error)

	// The following are nil unless the kind has them.

	// list returns what the API shows of the documents of a configuration.
	list func(c *route.Call, config string) (any, error)
	// visible reports whether the caller may see a document with this text; nil: every caller.
	visible func(c *route.Call, text string) (bool, error)
	// hidden is the error for the name of a document that the caller may not see.
	hidden func(name string) error
	// again checks the text of an earlier version before it becomes the newest one.
	again func(c *route.Call, text string) (replacement, error)
	// read returns what the API shows of a version that is read; nil: show.
	read func(c *route.Call, id document.ID, v document.Version) ([]byte, error)
	// written returns the answer to a write; nil: the version. restored is the number of the version restored, or 0.
	written func(v document.Version, restored int) any
}

// replacement returns the text of a document for the text that it replaces, which is "" if there is none.
type replacement func(old string) (text string, err error)

// unconditional returns a replacement that does not depend on the old text.
func unconditional(text string) replacement { return func(string) (string, error) { return text, nil } }

// documentTexts are the words of the routes of documents with names.
type documentTexts struct {
	id, tag             string // filter, filters: parts of the operation ids and of the paths
	param               string // the parameter of the path that is the name
	noun, nouns, it     string // saved filter, saved filters, filter
	put                 string // summary
	list, stored, again string // docs of the list, of writing and of restoring
	listed, one         any    // answers
	read, write         keys.Scope
	params              []parameter.Parameter // of the body
	body                *route.RequestBody
}

// routes returns the routes of documents with names.
func (d documents) routes(t documentTexts) []route.Route {
	all := "/conf/{config}/" + t.tag
	one := all + "/{" + t.param + "}"
	found := []route.Response{
		{Status: http.StatusOK, Doc: "The " + t.it + ".", Value: t.one, ETag: true},
		{Status: http.StatusNotModified, Doc: "The client has it already.", ETag: true},
	}
	versions := []route.Response{
		{Status: http.StatusOK, Doc: "Every version, newest first, even if the " + t.it + " is deleted.", Value: Versions{}},
	}
	reading := []int{http.StatusNotFound, http.StatusUnprocessableEntity}
	putting := slices.Concat(route.BodyErrors, route.WriteErrors, []int{http.StatusBadRequest})
	list := []route.Response{{Status: http.StatusOK, Doc: "The " + t.nouns + ", by name.", Value: t.listed}}
	stored := []route.Response{{Status: http.StatusOK, Doc: "The " + t.it + " as it was stored.", Value: t.one, ETag: true}}
	deleted := []route.Response{{Status: http.StatusNoContent, Doc: "The " + t.it + " was deleted."}}
	restored := []route.Response{{Status: http.StatusOK, Doc: "The " + t.it + " of the version.", Value: t.one, ETag: true}}
	putHeaders := []parameter.Parameter{ifMatch, ifNoneMatchWrite}
	if t.tag != route.ListsTag { // others have filters
		putHeaders = append([]parameter.Parameter{parameter.Syntax}, putHeaders...)
	}
	routes := []route.Route{
		{
			ID: t.tag, Method: http.MethodGet, Path: all, Summary: "List " + t.nouns, Doc: t.list,
			Answers: list, Errors: reading, Handle: d.answerList,
		},
		{
			ID: t.id + "-get", Method: http.MethodGet, Path: one, Summary: "Read a " + t.noun,
			Headers: []parameter.Parameter{ifNoneMatchRead}, Answers: found, Errors: reading, Handle: d.get,
		},
		{
			ID: t.id + "-put", Method: http.MethodPut, Path: one, Summary: t.put, Doc: t.stored, Params: t.params,
			Headers: putHeaders, Body: t.body, Answers: stored, Errors: putting, Handle: d.put,
		},
		{
			ID: t.id + "-delete", Method: http.MethodDelete, Path: one, Summary: "Delete a " + t.noun,
			Doc:     "The deletion is a version, too. Earlier versions can still be read and restored.",
			Headers: []parameter.Parameter{ifMatch}, Answers: deleted, Errors: route.WriteErrors, Handle: d.delete,
		},
		{
			ID: t.id + "-versions", Method: http.MethodGet, Path: one + "/versions", Summary: "History of a " + t.noun,
			Answers: versions, Errors: reading, Handle: d.versions,
		},
		{
			ID: t.id + "-version", Method: http.MethodGet, Path: one + "/versions/{version}",
			Summary: "Read a version of a " + t.noun,
			Headers: []parameter.Parameter{ifNoneMatchRead}, Answers: found, Errors: reading, Handle: d.getVersion,
		},
		{
			ID: t.id + "-restore", Method: http.MethodPost, Path: one + "/versions/{version}/restore",
			Summary: "Restore a version of a " + t.noun, Doc: t.again,
			Headers: []parameter.Parameter{ifMatch, ifNoneMatchWrite}, Answers: restored, Errors: route.WriteErrors, Handle: d.restore,
		},
	}
	for i := range routes {
		r := &routes[i]
		r.Tag, r.Offers, r.Scope = t.tag, content.Offers, t.read
		if r.Method != http.MethodGet {
			r.Scope = t.write
		}
	}
	return routes
}

// named returns a function that returns the document of a kind whose name is a parameter of the path.
func named(kind document.Kind, param, noun string) func(c *route.Call) (document.ID, error) {
	return func(c *route.Call) (document.ID, error) {
		config, err := configOf(c)
		if err != nil {
			return document.ID{}, err
		}
		name := c.Request.PathValue(param)
		if !document.ValidName(name) {
			return document.ID{}, problem.Details{badName(noun, name, "path", param)}
		}
		return document.ID{Kind: kind, Config: config, Name: name}, nil
	}
}

// answerList sends the documents of a configuration, unless they are too large for an answer.
func (d documents) answerList(c *route.Call) error {
	config, err := configOf(c)
	if err != nil {
		return err
	}
	list, err := d.list(c, config)
	if err != nil {
		return err
	}
	body := content.Encode(list)
	if len(body) > content.MaxAnswer {
		return problem.AnswerTooLarge(len(body))
	}
	c.Send(route.Answer{Status: http.StatusOK, ContentType: content.JSON, Body: body})
	return nil
}

// get sends the newest version.
func (d documents) get(c *route.Call) error {
	id, v, err := d.current(c)
	if err != nil {
		return err
	}
	return d.send(c, id, v)
}

// getVersion sends one version.
func (d documents) getVersion(c *route.Call) error {
	id, err := d.find(c)
	if err != nil {
		return err
	}
	number, err := versionOf(c)
	if err != nil {
		return err
	}
	v, err := d.version(c, id, number)
	if err != nil {
		return err
	}
	return d.send(c, id, v)
}

// send sends a version, or 304 if the client has it.
func (d documents) send(c *route.Call, id document.ID, v document.Version) error {
	var body []byte
	var err error
	if d.read != nil {
		body, err = d.read(c, id, v)
	} else {
		body, err = d.show(id, v)
	}
	if err != nil {
		return err
	}
	c.SendIfModified(route.Answer{Status: http.StatusOK, ContentType: content.JSON, Body: body, ETag: v.ETag})
	return nil
}

// versions sends the history.
func (d documents) versions(c *route.Call) error {
	id, err := d.find(c)
	if err != nil {
		return err
	}
	most := math.MaxInt
	if d.visible != nil {
		newest, err := d.seen(c, id)
		if err != nil {
			return err
		}
		most = newest.Number
	}
	infos, err := d.store.Versions(c.Request.Context(), id)
	if err != nil {
		return err
	}
	infos = slices.DeleteFunc(infos, func(v document.Info) bool { return v.Number > most })
	if len(infos) == 0 {
		return document.NotFound(id, 0)
	}
	sendVersions(c, infos)
	return nil
}

// put writes a document.
func (d documents) put(c *route.Call) error {
	id, change, err := d.change(c)
	if err != nil {
		return err
	}
	var with replacement
	types := d.types
	if types == nil {
		types = []string{content.JSON}
	}
	err = c.Parse(d.limit, types, func(sent parameter.Body) (err error) {
		with, err = d.parse(c, sent.Text)
		return err
	})
	if err != nil {
		return err
	}
	return d.replace(c, id, change, with, 0)
}

// restore makes an earlier version the newest.
func (d documents) restore(c *route.Call) error {
	id, change, err := d.change(c)
	if err != nil {
		return err
	}
	number, err := versionOf(c)
	if err != nil {
		return err
	}
	if err := c.NoBody(); err != nil {
		return err
	}
	old, err := d.version(c, id, number)
	if err != nil {
		return err
	}
	with := unconditional(old.Text)
	if d.again != nil {
		if with, err = d.again(c, old.Text); err != nil {
			return err
		}
	}
	return d.replace(c, id, change, with, number)
}

// replace writes a document and answers.
func (d documents) replace(c *route.Call, id document.ID, change document.Change, with replacement, restored int) error {
	var v document.Version
	err := d.write(c, id, change, func(change document.Change, old string) (err error) {
		if change.Text, err = with(old); err != nil {
			return err
		}
		v, err = document.Put(c.Request.Context(), d.store, id, change)
		return err
	})
	if err != nil {
		return err
	}
	var body []byte
	if d.written != nil {
		body = content.Encode(d.written(v, restored))
	} else if body, err = d.show(id, v); err != nil {
		return err
	}
	c.Writer.Header().Set("ETag", v.ETag)
	c.Send(route.Answer{Status: http.StatusOK, ContentType: content.JSON, Body: body})
	return nil
}

// delete deletes a document.
func (d documents) delete(c *route.Call) error {
	id, change, err := d.change(c)
	if err != nil {
		return err
	}
	if err := c.NoBody(); err != nil {
		return err
	}
	err = d.write(c, id, change, func(change document.Change, _ string) error {
		return document.Delete(c.Request.Context(), d.store, id, change)
	})
	if err != nil {
		return err
	}
	c.Send(route.Answer{Status: http.StatusNoContent})
	return nil
}

// change returns the document in the path of a write, and the write without its text.
func (d documents) change(c *route.Call) (id document.ID, change document.Change, err error) {
	if id, err = d.find(c); err != nil {
		return document.ID{}, document.Change{}, err
	}
	if d.Maintenance() {
		return document.ID{}, document.Change{}, errMaintenance()
	}
	change, err = d.server.change(c)
	return id, change, err
}

// write calls write with the text of the document that it replaces, if the kind has documents that a caller may not
// see. Then the caller must see that document, and the change fails if another one replaces it meanwhile. In this case
// write is called again, unless the precondition of the caller does not hold.
func (d documents) write(
	c *route.Call, id document.ID, change document.Change, write func(change document.Change, old string) error,
) error {
	if d.visible == nil {
		return write(change, "")
	}
	ctx := c.Request.Context()
	for {
		newest, text, err := d.last(ctx, id)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		if err == nil {
			if visible, err := d.visible(c, text); err != nil || !visible {
				return cmp.Or(err, d.hidden(id.Name))
			}
		}
		pinned := change
		holds := len(change.Precondition.Match) == 0 || slices.Contains(change.Precondition.Match, newest.ETag)
		switch {
		case err != nil || newest.Deleted():
			pinned.Precondition.Absent = true
		case holds:
			pinned.Precondition.Match = []string{newest.ETag}
		}
		if change.Precondition.Exists || len(change.Precondition.Match) > 0 {
			pinned.Precondition.Absent = false // the caller gets the error of the condition
		}
		if newest.Deleted() {
			text = ""
		}
		failed := write(pinned, text)
		if fault.KindOf(failed) != fault.Conflict || ctx.Err() != nil {
			return failed
		}
		if now, err := d.store.Newest(ctx, id); err != nil || now.ETag == newest.ETag {
			return failed // nothing has changed meanwhile: it is the condition of the caller
		}
	}
}

// last returns the newest version and its text. For a deletion it returns the text of the version before: every writer
// saw the version before its own, so whoever may see a version may see all versions before it.
func (d documents) last(ctx context.Context, id document.ID) (newest document.Version, text string, err error) {
	if newest, err = d.store.Newest(ctx, id); err != nil {
		return newest, "", err
	}
	if !newest.Deleted() {
		return newest, newest.Text, nil
	}
	before, err := d.store.Version(ctx, id, newest.Number-1)
	return newest, before.Text, err
}

// seen returns the newest version of a document, which may be a deletion. The error is of kind fault.NotFound if the
// caller may not see the document. A handler reads the newest version once, because the next one may be hidden from the
// caller.
func (d documents) seen(c *route.Call, id document.ID) (document.Version, error) {
	if d.visible == nil {
		return d.store.Newest(c.Request.Context(), id)
	}
	newest, text, err := d.last(c.Request.Context(), id)
	if err != nil {
		return newest, err
	}
	visible, err := d.visible(c, text)
	if err == nil && !visible {
		err = document.NotFound(id, 0)
	}
	return newest, err
}

// newest returns the document in the path and its newest version, which may be a deletion.
func (d documents) newest(c *route.Call) (id document.ID, v document.Version, err error) {
	if id, err = d.find(c); err == nil {
		v, err = d.seen(c, id)
	}
	return id, v, err
}

// current is newest without deletions.
func (d documents) current(c *route.Call) (document.ID, document.Version, error) {
	id, v, err := d.newest(c)
	if err == nil && v.Deleted() {
		err = document.NotFound(id, 0)
	}
	return id, v, err
}

// version returns a version of a document.
func (d documents) version(c *route.Call, id document.ID, number int) (document.Version, error) {
	if d.visible != nil {
		switch newest, err := d.seen(c, id); {
		case err != nil:
			return document.Version{}, err
		case number > newest.Number:
			return document.Version{}, document.NotFound(id, number)
		}
	}
	return document.Read(c.Request.Context(), d.store, id, number)
}

package remote

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"toolnorm/chat"

	"toolnorm/internal/fault"
	"toolnorm/internal/replace"
)

// file is mcp.json as it is written: a list of servers, [{"name": …, "url": …}], or an object as in
// other programs, {"mcpServers": {name: {"url": …}}}. A save keeps the form and the members that we
// do not know, because other programs that share the file need theirs (autoApprove, timeout).
type file struct {
	path      []string // keys that lead to the servers in an object; nil: the file is a list
	keyed     bool     // the servers' names are keys and not members
	around    object   // the whole object
	servers   []written
	commented bool // it has comments, which a save would lose
}

// written is the text of one server in the file, and the entry that was read from it.
type written struct {
	key   string // its name in the file; entry.Name is its name here
	text  json.RawMessage
	entry Entry
	err   error // why the server is left out; nil: it is used
}

// Bounds of the file. A larger file is not a list that a person has written. Each server costs a
// goroutine and a connection.
const (
	largestFile = 16 << 20
	mostServers = 200
)

// places lists the keys under which programs store servers. Most use the first, VS Code the second
// in mcp.json and the last in its settings, Zed the third, and opencode the fourth.
var places = [][]string{{"mcpServers"}, {"servers"}, {"context_servers"}, {"mcp", "servers"},
	{"mcp"}}

// parse reads the file's text. A text of only white space gives an empty list. For a server that
// cannot be used, the result has its text and the reason (err). parse returns an error if no
// servers can be read at all.
func parse(text []byte) (*file, error) {
	if len(text) > largestFile {
		return nil, fmt.Errorf("is larger than %d bytes", largestFile)
	}
	f := &file{}
	text, f.commented = plainJSON(text)
	// An empty file is what touch or a cleared editor leaves.
	var err error
	switch begin := bytes.TrimSpace(text); {
	case len(begin) == 0:
	case begin[0] == '{':
		err = f.parseObject(text)
	case begin[0] == '[':
		err = f.parseList(text)
	default:
		err = errors.New("must be a list of servers, or an object with mcpServers")
	}
	if err != nil {
		return nil, addLine(text, err)
	}
	f.read()
	return f, nil
}

// parseList reads the servers from a JSON list, our own form. It returns an error if text is not a
// list.
func (f *file) parseList(text []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("must be a list of servers, or an object with mcpServers: %w", err)
	}
	for _, item := range list {
		w := written{text: item}
		if o, err := readObject(item); err == nil && o.any("name") != nil {
			w.key, _ = scalar(o.any("name")) // a server without a name is left out
		}
		f.servers = append(f.servers, w)
	}
	return nil
}

// parseObject reads the servers from a JSON object, the form of other programs, in which their
// names are keys. It keeps the order of the servers and the members beside them. It returns an
// error if none of the known places in the object has servers.
func (f *file) parseObject(text []byte) (err error) {
	if f.around, err = readObject(text); err != nil {
		return err
	}
	if err := f.around.twice(); err != nil {
		return err
	}
	for _, path := range places {
		value := json.RawMessage(text)
		for _, key := range path {
			o, err := readObject(value)
			if value = nil; err == nil {
				value = o.any(foldKey(key))
			}
		}
		switch o, err := readObject(value); {
		case err == nil:
			for _, m := range o {
				f.servers = append(f.servers, written{key: m.key, text: m.value})
			}
			f.keyed = true
		case len(value) == 0 || f.parseList(value) != nil: // Continue has a list there
			continue
		}
		f.path = path
		return nil
	}
	// Another program's object without servers is most likely the wrong file, and must not be
	// written into.
	return errors.New(`has no member "mcpServers" that holds servers`)
}

// read reads the entry of each server, and sets err for those that cannot be used. Valid names come
// first, so that a name that has to be changed does not take one of them.
func (f *file) read() {
	taken := map[string]bool{}
	for i := range f.servers {
		w := &f.servers[i]
		if w.entry, w.err = readEntry(w.text); w.err != nil {
			continue
		}
		if w.key == "" {
			w.err = errors.New("has no name")
		}
		if w.entry.Name = w.key; validName.MatchString(w.key) {
			w.take(taken)
		}
	}
	for i := range f.servers {
		if w := &f.servers[i]; w.err == nil && !validName.MatchString(w.key) {
			if w.entry.Name = cleanName(w.key); taken[w.entry.Name] {
				w.entry.Name = addChecksum(w.entry.Name, w.key)
			}
			w.take(taken)
		}
	}
}

// take adds the entry's name to taken. It sets w.err instead if the entry is not valid, if the name
// is taken already, since of equal names the first is used, or if there are too many servers.
func (w *written) take(taken map[string]bool) {
	name := w.entry.Name
	switch w.err = w.entry.check(); {
	case w.err != nil:
	case taken[name]:
		w.err = errors.New("is there twice; the first one counts")
	case len(taken) == mostServers:
		w.err = fmt.Errorf("is one more than the %d servers that can be used", mostServers)
	default:
		taken[name] = true
	}
}

// shown returns the name of an entry for a list, or "entry N" if it has none. N is counted from 1;
// the parameter at is counted from 0.
func (w *written) shown(at int) string {
	if w.err == nil {
		return w.entry.Name
	}
	return cmp.Or(w.key, fmt.Sprintf("entry %d", at+1))
}

// find returns the index of the server with a name, or -1 if there is none. The name may be the
// valid name that the program uses, or the name in the file.
func (f *file) find(name string) int {
	for _, is := range []func(written) bool{
		func(w written) bool { return w.err == nil && w.entry.Name == name },
		func(w written) bool { return w.key == name },
	} {
		if at := slices.IndexFunc(f.servers, is); at >= 0 {
			return at
		}
	}
	return -1
}

// put adds a server by its URL. An existing entry gets the new URL and loses the members of a
// command. If the new URL is another server's, the entry also loses its headers, because they may
// be keys. The entry is read again from the text that will be saved. put returns an error if the
// entry is not valid or there are too many servers.
func (f *file) put(e Entry) error {
	at := f.find(e.Name)
	o := object{}
	if at >= 0 {
		w := f.servers[at]
		o, _ = readObject(w.text) // a value that is not an object has nothing to keep
		// "type" is removed too, since it was for the old address.
		o = o.without(slices.Concat(commandKeys, argsKeys, envKeys, envFileKeys, dirKeys,
			typeKeys)...).renamed("url", urlKeys...)
		if w.err != nil || !sameOrigin(w.entry.URL, e.URL) {
			o = o.without(headersKeys...)
		}
	}
	// A server that is added again is trusted as far as the caller who adds it now, not as the one
	// before.
	o = o.without("private")
	var err error
	set := func(key string, value any) {
		if err == nil {
			o, err = o.with(key, value)
		}
	}
	if !f.keyed {
		set("name", e.Name)
	}
	set("url", e.URL)
	if len(e.Headers) > 0 {
		o = o.without(headersKeys...)
		set("headers", e.Headers)
	}
	if len(e.Include) > 0 {
		o = o.without(includeKeys...)
		set("include", e.Include)
	}
	if len(e.Exclude) > 0 {
		o = o.without(excludeKeys...)
		set("exclude", e.Exclude)
	}
	if e.Private != nil {
		set("private", *e.Private)
	}
	if err != nil {
		return err
	}
	w := written{key: e.Name, text: o.text()}
	switch {
	case at >= 0:
		if f.keyed {
			w.key = f.servers[at].key
		}
		f.servers[at] = w
	case len(f.servers) >= mostServers:
		return fault.New(fault.Invalid, "there are %d servers already: remove one first",
			mostServers)
	default:
		at, f.servers = len(f.servers), append(f.servers, w)
	}
	f.read()
	return f.servers[at].err
}

// disable switches the entry at the given index off or on. It fails if the entry is not an object.
func (f *file) disable(at int, off bool) error {
	o, err := readObject(f.servers[at].text)
	if err != nil {
		return err
	}
	if o = o.without("disabled", "enabled"); off {
		if o, err = o.with("disabled", true); err != nil {
			return err
		}
	}
	f.servers[at].text = o.text()
	f.read()
	return nil
}

// drop removes a server and all of its entry, and reports whether it was there.
func (f *file) drop(name string) bool {
	at := f.find(name)
	if at < 0 {
		return false
	}
	f.servers = slices.Delete(f.servers, at, at+1)
	f.read()
	return true
}

// encode returns the file's text. A file that is a list has one line for each server, and one that
// is an object is indented. It returns an error if a text in f is not valid JSON.
func (f *file) encode() ([]byte, error) {
	if f.path == nil {
		return f.encodeList()
	}
	servers := object{}
	for _, w := range f.servers {
		servers = append(servers, member{w.key, w.text})
	}
	text := servers.text()
	if !f.keyed {
		var err error
		if text, err = f.encodeList(); err != nil {
			return nil, err
		}
	}
	around, err := f.around.replaced(f.path, text)
	if err != nil {
		return nil, err
	}
	return indent(around.text())
}

// encodeList returns the servers as a list. It returns an error if a text in it is not valid JSON.
func (f *file) encodeList() ([]byte, error) {
	b := []byte("[")
	for i, w := range f.servers {
		if i > 0 {
			b = append(b, ',')
		}
		line, err := chat.JSON(w.text)
		if err != nil {
			return nil, err
		}
		b = append(append(b, "\n  "...), line...)
	}
	if len(f.servers) > 0 {
		b = append(b, '\n')
	}
	return append(b, "]\n"...), nil
}

// text returns the object as JSON. It cannot fail, because the values are JSON already.
func (o object) text() json.RawMessage {
	text, _ := o.MarshalJSON()
	return text
}

// indent returns JSON with the indentation of other programs, so that a save changes few lines. It
// returns an error if text is not JSON.
func indent(text []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// errNoPlace means that mcp.json does not exist and cannot be made, so there are no servers and
// none can be added. It is not fatal, so that the program works on a read-only disk.
var errNoPlace = errors.New("mcp.json cannot be made")

// load reads the file at path. If the file is missing, load makes one without servers, so that
// people find where to write. If that fails, it returns an empty file and errNoPlace. A broken file
// is an error and never an empty list, since the next save would lose everything in it.
func load(path string) (*file, error) {
	text, err := os.ReadFile(path)
	// ENOTDIR: a file is where a folder of the path should be; then it cannot be made either.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		f := &file{}
		if err := f.save(path); err != nil {
			return f, fmt.Errorf("%w: %w", errNoPlace, err)
		}
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return f, nil
}

// save writes the file, or returns an error. Only the user can read it, because headers contain
// keys. A symbolic link stays a link and its target is written, for users who keep settings in a
// repository. A file with comments, which the save loses, is first copied to FILE.bak.
func (f *file) save(path string) error {
	text, err := f.encode()
	if err != nil {
		return err
	}
	if path, err = replace.Target(path); err != nil {
		return err
	}
	if f.commented {
		// The person's own text is kept beside the file, since the comments are nowhere else.
		before, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := replace.File(path+".bak", before); err != nil {
			return err
		}
	}
	return replace.File(path, text)
}

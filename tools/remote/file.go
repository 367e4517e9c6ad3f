package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"toolnorm/chat"

	"toolnorm/internal/fault"
	"toolnorm/internal/replace"
)

// file is mcp.json as it is written: a list of servers, [{"name": …, "url": …}], or the object that other programs
// have, {"mcpServers": {name: {"url": …}}}. What we do not know in it is kept, and so is the form: people share the
// file with other programs, whose members (autoApprove, timeout) are nothing to us and much to them.
type file struct {
	isObject bool
	around   object // the object's other members
	servers  []written
}

// written is one server's text, with what we do not know in it, and what we read of it.
type written struct {
	entry Entry
	text  object
}

// Bounds of the file: what is larger is not a list of servers that somebody wrote. Each server keeps a goroutine and a
// connection.
const (
	largestFile = 1 << 20
	mostServers = 200
)

// parse reads the file's text; nothing but white space is an empty list. A byte order mark, as Windows' editors write
// it, is passed over. One server that is wrong makes the whole file wrong: to go on without it would look as if it were
// gone.
func parse(text []byte) (*file, error) {
	// An empty file is what touch or a cleared editor leaves.
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\uFEFF")))
	f := &file{}
	var err error
	switch {
	case len(text) > largestFile:
		return nil, fmt.Errorf("is larger than %d bytes", largestFile)
	case len(text) == 0:
	case text[0] == '{':
		err = f.parseObject(text)
	default:
		err = f.parseList(text)
	}
	if err == nil && len(f.servers) > mostServers {
		err = fmt.Errorf("holds more than %d servers", mostServers)
	}
	return f, err
}

// parseList reads our own form. A server without a name is an error, by its place in the list, from 0 as programs count.
func (f *file) parseList(text []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("must be a list of servers, or an object with mcpServers: %w", err)
	}
	for i, item := range list {
		o, err := readObject(item)
		if err != nil {
			return fmt.Errorf("server %d: %w", i, err)
		}
		var name string
		if err := json.Unmarshal(o.get("name"), &name); err != nil {
			return fmt.Errorf("server %d has no name", i)
		}
		if err := f.take(name, o, item); err != nil {
			return err
		}
	}
	return nil
}

// parseObject reads the form of other programs, in which the names are the keys. Their order is kept, and so is what
// stands beside mcpServers.
func (f *file) parseObject(text []byte) error {
	f.isObject = true
	var err error
	if f.around, err = readObject(text); err != nil {
		return err
	}
	servers := f.around.get("mcpServers")
	// Another program's object without servers is most likely the wrong file, and must not be written into.
	if servers == nil {
		return errors.New(`has no member "mcpServers"`)
	}
	all, err := readObject(servers)
	if err != nil {
		return fmt.Errorf("mcpServers %w", err)
	}
	for _, m := range all {
		o, err := readObject(m.value)
		if err != nil {
			return fmt.Errorf("server %q: %w", m.key, err)
		}
		if err := f.take(m.key, o, m.value); err != nil {
			return err
		}
	}
	return nil
}

// take adds a server that was read. The same name twice is an error, since readers of the file differ in which one
// counts.
func (f *file) take(name string, o object, text json.RawMessage) error {
	e := Entry{}
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("server %q: %w", name, err)
	}
	e.Name = name
	if err := e.check(); err != nil {
		return err
	}
	if f.find(name) >= 0 {
		return fmt.Errorf("server %q is there twice", name)
	}
	f.servers = append(f.servers, written{e, o})
	return nil
}

// find is the place of a server; -1 when there is none.
func (f *file) find(name string) int {
	return slices.IndexFunc(f.servers, func(w written) bool { return w.entry.Name == name })
}

// put registers a server by its URL. One that is there gets the URL; what else it has stays, but for its headers when the
// server is another one now: they may be keys of the old. One that was a command becomes a URL, and keeps nothing of the
// command. The entry is read again from the text that will be saved, so that both cannot differ.
func (f *file) put(e Entry) error {
	at := f.find(e.Name)
	w := written{entry: Entry{}, text: object{}}
	if at >= 0 {
		// "type" goes too: it was said of the old address.
		w.text = f.servers[at].text.without("command").without("args").without("env").without("cwd").without("type")
		if !sameOrigin(f.servers[at].entry.URL, e.URL) {
			w.text = w.text.without("headers")
		}
	}
	var err error
	if !f.isObject {
		w.text, err = w.text.with("name", e.Name)
	}
	if err == nil {
		w.text, err = w.text.with("url", e.URL)
	}
	// A server that is added anew is trusted as far as who adds it now, not as who did so before.
	if w.text = w.text.without("private"); err == nil && e.Private != nil {
		w.text, err = w.text.with("private", *e.Private)
	}
	if err != nil {
		return err
	}
	text, err := w.text.MarshalJSON()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &w.entry); err != nil {
		return err
	}
	w.entry.Name = e.Name
	switch {
	case at >= 0:
		f.servers[at] = w
	case len(f.servers) == mostServers:
		return fault.New(fault.Invalid, "there are %d servers already: remove one first", mostServers)
	default:
		f.servers = append(f.servers, w)
	}
	return nil
}

// drop removes a server, with all that its entry holds, and says whether it was there.
func (f *file) drop(name string) bool {
	at := f.find(name)
	if at < 0 {
		return false
	}
	f.servers = slices.Delete(f.servers, at, at+1)
	return true
}

// encode is the file's text, a server a line in the list's form, indented in the object's.
func (f *file) encode() ([]byte, error) {
	if f.isObject {
		servers := object{}
		for _, w := range f.servers {
			servers = append(servers, member{w.entry.Name, must(w.text)})
		}
		around, err := f.around.with("mcpServers", servers)
		if err != nil {
			return nil, err
		}
		return indented(must(around))
	}
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

// must is an object's text. Its values are JSON already, so nothing can fail.
func must(o object) json.RawMessage {
	text, _ := o.MarshalJSON()
	return text
}

// indented is JSON as those programs write it, so that a save shows as few changes as there are.
func indented(text []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// errNoPlace says that there is no file and none can be made: there are no servers, and none can be added. It stops
// nothing, as a program on a read-only disk works without other servers.
var errNoPlace = errors.New("mcp.json cannot be made")

// load reads the file at path. One that is missing is made, with no servers in it, so that people find where to write.
// A file that is broken is an error, never an empty list: the next save would lose all that is in it.
func load(path string) (*file, error) {
	text, err := os.ReadFile(path)
	// ENOTDIR: a file stands where a folder of the path should be; then it cannot be made either.
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
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// save writes the file. Only the user can read it: headers hold keys. A link stays a link to what is written, as those who keep their settings in a
// repository have it.
func (f *file) save(path string) error {
	text, err := f.encode()
	if err != nil {
		return err
	}
	// A rename onto a link would replace the link and leave the file behind it as it was.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replace.File(path, text)
}

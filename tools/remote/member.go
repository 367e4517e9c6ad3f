package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Programs spell the members of an entry in different ways. Each of these lists has all spellings
// of one member, as foldKey returns them.
var (
	urlKeys     = []string{"httpurl", "url", "serverurl"} // Gemini CLI's, everybody's, Windsurf's
	typeKeys    = []string{"type", "transport"}
	commandKeys = []string{"command"}
	argsKeys    = []string{"args", "arguments"}
	envKeys     = []string{"env", "environment"} // opencode's
	envFileKeys = []string{"envfile"}            // VS Code's and Cursor's
	dirKeys     = []string{"cwd"}
	headersKeys = []string{"headers"}
	includeKeys = []string{"include", "includetools"} // Gemini CLI's
	excludeKeys = []string{"exclude", "excludetools"}
)

// reader reads the members of an entry. A value with only one possible meaning is read even if its
// type is wrong. The field err is the error for the first member that cannot be read.
type reader struct {
	object
	err error
}

// wrong sets r.err to an error such as "serverUrl must be a text", unless r.err is set already. The
// parameter keys has all spellings of the member's key; the error has the one in the file. The
// parameter want is the end of the sentence, such as "a text". If the member is missing or null,
// wrong does nothing.
func (r *reader) wrong(keys []string, want string) {
	for _, m := range r.object {
		if r.err == nil && slices.Contains(keys, foldKey(m.key)) && string(m.value) != "null" {
			r.err = fmt.Errorf("%s must be %s", m.key, want)
		}
	}
}

// text returns the text under the first of the keys that the object has, or "" if it has none. A
// value that is not a text sets r.err.
func (r *reader) text(keys ...string) string {
	value := r.any(keys...)
	if value == nil {
		return ""
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		r.wrong(keys, "a text")
	}
	return strings.TrimSpace(s)
}

// scalar returns a text, or the text of a number or a boolean, since {"PORT": 3000} means the same
// as {"PORT": "3000"}. It returns false for a list or an object.
func scalar(value json.RawMessage) (string, bool) {
	var s string
	switch {
	case json.Unmarshal(value, &s) == nil:
		return s, true
	case len(value) > 0 && (value[0] == '[' || value[0] == '{'):
		return "", false
	}
	return string(value), true
}

// list returns a list of texts, or nil if it is missing. A text alone is a list of one, unless it
// contains blanks, at which a shell would split it. Any other value sets r.err.
func (r *reader) list(keys ...string) (out []string) {
	value := r.any(keys...)
	if value == nil {
		return nil
	}
	want := `a list of texts, as ["-y", "server"]`
	if s, ok := scalar(value); ok {
		if strings.ContainsAny(s, " \t\n") {
			r.wrong(keys, want)
			return nil
		}
		return []string{s}
	}
	var all []json.RawMessage
	if json.Unmarshal(value, &all) != nil && string(value) != "{}" {
		r.wrong(keys, want)
	}
	for _, one := range all {
		s, ok := scalar(one)
		if !ok || string(one) == "null" {
			r.wrong(keys, want)
		}
		out = append(out, s)
	}
	return out
}

// texts returns an object of texts, or nil if it is missing. A member that is null counts as
// missing, and so does an empty list, which PHP writes for an empty object. Any other value sets
// r.err.
func (r *reader) texts(keys ...string) map[string]string {
	value := r.any(keys...)
	if value == nil || string(value) == "[]" {
		return nil
	}
	o, err := readObject(value)
	if err != nil || o.twice() != nil {
		r.wrong(keys, `an object of texts, as {"NAME": "value"}`)
		return nil
	}
	out := map[string]string{}
	for _, m := range o {
		s, ok := scalar(m.value)
		if !ok {
			r.wrong(keys, `an object of texts, as {"NAME": "value"}`)
		}
		if string(m.value) != "null" {
			out[m.key] = s
		}
	}
	return out
}

// truth returns true or false, or nil if the member is missing. Any other value sets r.err.
func (r *reader) truth(key string) *bool {
	value := r.any(key)
	if value == nil {
		return nil
	}
	s, _ := scalar(value)
	yes := strings.EqualFold(s, "true")
	if !yes && !strings.EqualFold(s, "false") {
		r.wrong([]string{key}, "true or false")
	}
	return &yes
}

// transports maps the words that programs use for a transport, as foldKey returns them, to ours.
// The value "" means that the transport is detected.
var transports = map[string]string{
	"": "", "sse": "sse", "stdio": "stdio", "local": "stdio", "http": "http", "https": "http",
	"streamablehttp": "http", "streamable": "http", "httpstream": "http",
	"remote": "", // opencode's, for all that has a URL
}

// readEntry reads a server's text. It ignores members that it does not know. It returns an error if
// the text is not an object, a key occurs twice, or a member cannot be read.
func readEntry(text json.RawMessage) (e Entry, err error) {
	o, err := readObject(text)
	if err != nil {
		return e, errors.New("must be an object with a url or a command")
	}
	if err := o.twice(); err != nil {
		return e, err
	}
	r := &reader{object: o}
	e = Entry{
		URL: r.text(urlKeys...), Headers: r.texts(headersKeys...), Args: r.list(argsKeys...),
		Env: r.texts(envKeys...), Dir: r.text(dirKeys...),
		EnvFile: r.text(envFileKeys...),
		Include: r.list(includeKeys...), Exclude: r.list(excludeKeys...),
		Private: r.truth("private"),
	}
	r.command(&e)
	r.oauth(&e)
	said := r.text(typeKeys...)
	kind, ok := transports[foldKey(said)]
	if !ok {
		return e, fmt.Errorf("its type can be sse, http or stdio, not %.40q", said)
	}
	if e.Type = kind; e.Type == "" && r.any("httpurl") != nil {
		e.Type = "http" // Gemini CLI writes httpUrl for this transport, and url for sse
	}
	// If there are both, the type says which is meant.
	switch {
	case e.URL == "" || e.Command == "":
	case e.Type == "stdio":
		e.URL = ""
	case e.Type != "":
		e.Command, e.Args, e.Env, e.EnvFile = "", nil, nil, ""
	}
	if yes := r.truth("insecure"); yes != nil {
		e.Insecure = *yes
	}
	off, on := r.truth("disabled"), r.truth("enabled")
	e.Disabled = off != nil && *off || on != nil && !*on
	return e, r.err
}

// oauth reads the settings for sign-ins, and stores them in e. It ignores true and false, which
// some programs write. A setting that cannot be read sets r.err.
func (r *reader) oauth(e *Entry) {
	o, err := readObject(r.any("oauth"))
	if err != nil {
		return
	}
	in := &reader{object: o}
	port := ""
	if value := in.any("callbackport"); value != nil {
		port, _ = scalar(value) // an invalid port fails when it is listened at
	}
	e.OAuth = OAuth{ClientID: in.text("clientid"), Secret: in.text("clientsecret"), Scopes: in.list(
		"scopes"), Port: port}
	if len(e.OAuth.Scopes) == 0 {
		e.OAuth.Scopes = strings.Fields(in.text("scope"))
	}
	if r.err == nil {
		r.err = in.err
	}
}

// command sets e.Command and e.Args to the command that the entry names. The value may be a text, a
// list with the arguments after the command (opencode), or an object with both and perhaps e.Env
// (Zed). Any other value sets r.err.
func (r *reader) command(e *Entry) {
	value := r.any(commandKeys...)
	switch {
	case value == nil:
	case value[0] == '[':
		if all := r.list(commandKeys...); len(all) > 0 {
			e.Command, e.Args = all[0], slices.Concat(all[1:], e.Args)
		}
	case value[0] == '{':
		o, err := readObject(value)
		if err != nil || o.twice() != nil || o.any("path", "command") == nil {
			r.wrong(commandKeys, "a text")
			return
		}
		in := &reader{object: o}
		e.Command, e.Args = in.text("path", "command"), slices.Concat(in.list(argsKeys...), e.Args)
		if env := in.texts(envKeys...); env != nil {
			e.Env = env
		}
		if r.err == nil {
			r.err = in.err
		}
	default:
		e.Command = r.text(commandKeys...)
	}
}

package remote

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Entry is one MCP server in mcp.json. It has either a URL or a command to run on this machine.
// readEntry reads its members and knows the spellings of other programs, so that an entry can be
// copied from their files.
type Entry struct {
	Name string `json:"-"`

	URL     string
	Type    string            // "sse", "http" or "stdio"; empty: detected
	Headers map[string]string // sent with every request to this server, and to no other

	Command string // communicates on its standard input and output
	Args    []string
	Env     map[string]string // in addition to what a program needs to start; see process
	EnvFile string            // file with more variables; see readEnvFile
	Dir     string

	Include  []string // the only tools that are taken, by the server's names; empty: all
	Exclude  []string // tools that are not taken, by the server's names
	Disabled bool     // the server is listed, but not connected

	// This is a pointer, since a missing value differs from false, and is not written into the
	// file.
	Private  *bool // may be at a private or loopback address; nil: yes
	Insecure bool  // plain http is accepted at a public address

	OAuth   OAuth
	account *account // adds the user's token to its requests; nil: requests have no token
}

// validName matches a valid name of a server. A name has no dots, which separate a server's name
// from its tool's. Two underscores do the same in the names that chat models see. They are allowed,
// but tools of such a server get a checksum in those names.
var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// otherLetters matches characters that a name may not contain.
var otherLetters = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// cleanName returns a valid name for a server whose name in the file is not valid: "My server"
// becomes My_server, and io.github.owner/name becomes io_github_owner_name. It appends a checksum
// if letters are lost, as of 날씨, or if the name is too long or reserved.
func cleanName(key string) string {
	clean := strings.Trim(otherLetters.ReplaceAllString(key, "_"), "_")
	lost := func(r rune) bool { return r > unicode.MaxASCII }
	if clean == "" || len(clean) > 64 || strings.ContainsFunc(key, lost) || clean == Local {
		return addChecksum(clean, key)
	}
	return clean
}

// addChecksum returns a server's valid name, made of the parameter clean, cut if necessary, and a
// checksum of the original name, key. With the checksum no other server gets the same name.
func addChecksum(clean, key string) string {
	return fmt.Sprintf("%.55s_%.4x", cmp.Or(clean, "server"), sha256.Sum256([]byte(key)))
}

// Local is the name under which the agent knows the tools that come with the program. No server may
// have this name, since local.search_docs could otherwise mean two tools.
const Local = "local"

// longestURL is the largest length of a URL in bytes. Browsers and proxies have about the same
// limit.
const longestURL = 2048

// check returns an error that says what is wrong with the entry, or nil. Variables are not filled
// in yet, so a URL with a variable is checked later, when it is dialled.
func (e Entry) check() error {
	switch {
	case e.Name == "":
		return errors.New("has no name")
	case !validName.MatchString(e.Name):
		return errors.New("a name is 1 to 64 of A-Z a-z 0-9 _ and -")
	case e.Name == Local:
		return errors.New("that is the name of the tools that come with the program")
	case (e.URL == "") == (e.Command == ""):
		return errors.New("needs either a url or a command")
	// The variable may be the host itself, so such a URL is checked once its value is known.
	case e.URL != "" && !strings.Contains(e.URL, "${"):
		return checkURL(e.URL)
	}
	return nil
}

// checkURL returns an error that says what is wrong with a server's URL, or nil. A user and
// password in the URL are refused, because URLs are listed and logged and headers are not. An
// address that no server may have is refused here already, so that the mistake is found when it is
// made.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > longestURL:
		// the parser's own error would show the URL with its secrets
		return errors.New("its url cannot be read; it should look like http://host:port/mcp")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("its url must begin with http:// or https://, not %q", u.Scheme)
	case u.Hostname() == "":
		return errors.New("its url names no host")
	case u.User != nil:
		return errors.New("its url holds a password; put it into headers")
	}
	// Only for a better message: what counts is the address that is dialled (policy.go).
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return alwaysRefused(ip)
	}
	return nil
}

// variable matches a reference to an environment variable: ${NAME}, ${env:NAME} (VS Code) or
// ${NAME:-default} (Claude Code).
var variable = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

// input matches a reference to a value for which VS Code asks its user.
var input = regexp.MustCompile(`\$\{input:[^}]*\}`)

// filled returns the entry with ${NAME} and ${NAME:-default} replaced by values from the
// environment. An empty variable counts as not set. It returns an error that names a variable that
// has no value and no default, because the refusal of a server that gets only "Bearer " would say
// less. It also returns an error for a reference that an editor would ask its user for
// (${input:…}), and for a file of variables that cannot be read.
func (e Entry) filled() (Entry, error) {
	var missing error
	fill := func(text string) string {
		return variable.ReplaceAllStringFunc(text, func(ref string) string {
			m := variable.FindStringSubmatch(ref)
			// Set and empty is as good as not set: no header or URL means anything with a part
			// missing.
			if v := os.Getenv(m[1]); v != "" {
				return v
			}
			home, err := os.UserHomeDir()
			switch {
			case strings.Contains(ref, ":-"):
				return m[2]
			case m[1] == "userHome" && err == nil: // VS Code's and Cursor's
				return home
			case strings.HasPrefix(m[1], "workspace"):
				missing = fmt.Errorf("%s is a folder that an editor has open; write its path", ref)
			default:
				missing = fmt.Errorf("the environment has no %s", m[1])
			}
			return ""
		})
	}
	all := func(m map[string]string) map[string]string {
		out := make(map[string]string, len(m))
		for k, v := range m {
			out[k] = fill(v)
		}
		return out
	}
	e.URL, e.Command, e.Dir = fill(e.URL), fill(e.Command), fill(e.Dir)
	e.OAuth.ClientID, e.OAuth.Secret = fill(e.OAuth.ClientID), fill(e.OAuth.Secret)
	e.EnvFile = fill(e.EnvFile)
	e.Headers, e.Env, e.Args = all(e.Headers), all(e.Env), slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = fill(e.Args[i])
	}
	for _, text := range slices.Concat([]string{e.URL}, e.Args,
		slices.Collect(maps.Values(e.Headers)), slices.Collect(maps.Values(e.Env))) {
		if ask := input.FindString(text); ask != "" && missing == nil {
			missing = fmt.Errorf(
				"%s asks a person, whom an editor has; write ${NAME}, and set NAME in the environment", ask)
		}
	}
	if e.EnvFile == "" || e.Command == "" || missing != nil {
		return e, missing
	}
	more, err := readEnvFile(e.EnvFile, e.Dir)
	if err != nil {
		return e, err
	}
	maps.Copy(more, e.Env) // the variables of the entry itself win
	e.Env = more
	return e, nil
}

// shown returns the server's address as it may be listed and logged. Values in the query of a URL
// may be keys and are replaced by "…", except for variables such as ?key=${TOKEN}, which only name
// the secret. For a command it returns only the first word, since keys are often given as
// arguments.
func (e Entry) shown() string {
	if e.Command != "" {
		return "command: " + e.Command
	}
	// Some services take their key in the query, https://mcp.example/sse?api_key=…; paths are
	// shown.
	at, query, ok := strings.Cut(e.URL, "?")
	if !ok {
		return e.URL
	}
	return at + "?" + secretValue.ReplaceAllString(query, "=…")
}

// secretValue matches a value in the query of a URL that is not a variable. Every such value counts
// as secret, since a key looks like any other value.
var secretValue = regexp.MustCompile(`=[^&$][^&]*`)

// takes reports whether the entry includes a tool, given by the server's name for it. Exclude wins
// over Include.
func (e Entry) takes(tool string) bool {
	return (len(e.Include) == 0 || slices.Contains(e.Include, tool)) &&
		!slices.Contains(e.Exclude, tool)
}

// same reports whether two entries are equal and so can use one connection. Any change of a member
// needs a new connection, even if the old one might do, because changes are rare and this rule is
// simple and safe.
func (e Entry) same(other Entry) bool {
	a, errA := json.Marshal(e)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && string(a) == string(b)
}

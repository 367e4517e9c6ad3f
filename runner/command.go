package runner

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolnorm/tools"
)

// Program is the command that starts the runner, one or more words without quotes, for example
// "python runner.py". The empty string stands for Toolrun. Quotes are not possible, because
// PowerShell and cmd would read them differently.
type Program string

// Toolrun is the program that comes with toolnorm.
const Toolrun Program = "toolrun"

// longestLine is the longest command that is written, in bytes. Pending stores longer calls.
// busybox cuts a line that is typed or pasted at 1,023 bytes, and a terminal whose lines the system
// edits, as with dash, cuts at 4,095. Then the quote stays open, and the following text is read
// with its quotes inverted. Base64 has the same limit, for simplicity.
const longestLine = 900

// ErrTooLong is returned for a command that some shell or terminal would cut.
var ErrTooLong = errors.New("the arguments are too long for a command line")

// The characters of ids and of the words of a program.
const (
	idLetters   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	wordLetters = idLetters + ".:@%+,/-"
	longestID   = 64
)

// only reports whether text consists of characters in letters and no others.
func only(text, letters string) bool { return strings.Trim(text, letters) == "" }

// Check returns an error unless every shell reads the program as the words it consists of. It also
// returns an error if the first word is an absolute path. Editors take such a path for a file's
// name: Void removes a first line that is an absolute path from a block of code.
func (p Program) Check() error {
	for i, word := range strings.Fields(string(p)) {
		if !only(word, wordLetters) || strings.HasPrefix(word, "//") ||
			i == 0 && only(word[:1], "-/") {
			return fmt.Errorf(
				"a runner consists of words of A-Z a-z 0-9 _ . : @ %% + , - and /, and does not start with an absolute path; not %q", word)
		}
	}
	return nil
}

// words returns the program's words with one blank between them, or Toolrun if the program is
// empty.
func (p Program) words() string {
	if words := strings.Fields(string(p)); len(words) > 0 {
		return strings.Join(words, " ")
	}
	return string(Toolrun)
}

// Command returns the line that runs a call in dash, bash, zsh, fish, ksh and similar shells:
// toolrun NAME 'JSON'. The shell passes the text between the quotes on unchanged. Arguments that
// are empty or null become {}. It returns an error if the name has other characters than A-Z a-z
// 0-9 _ . - or the arguments are not a JSON object in UTF-8. It returns ErrTooLong if the line
// would have more than 900 bytes.
func (p Program) Command(name string, args json.RawMessage) (string, error) {
	text, err := p.data(name, args)
	if err != nil {
		return "", err
	}
	return fitting(p.words() + " " + guardName(name) + " '" + string(text) + "'")
}

// Base64 returns the line that runs a call in PowerShell and cmd, which take quotes apart: toolrun
// --b64 DATA NAME. The errors are those of Command. The alphabet is that of URLs, without padding,
// because +, / and = have a meaning in cmd.
func (p Program) Base64(name string, args json.RawMessage) (string, error) {
	text, err := p.data(name, args)
	if err != nil {
		return "", err
	}
	return fitting(p.words() + " --b64 " + base64.RawURLEncoding.EncodeToString(text) + " " +
		guardName(name))
}

// fitting returns the line, or ErrTooLong if a terminal might cut it.
func fitting(line string) (string, error) {
	if len(line) > longestLine {
		return "", ErrTooLong
	}
	return line, nil
}

// Fetch returns the line that runs a pending call: toolrun --call ID. Nothing in it needs quotes,
// whatever the arguments contain. It returns an error if the id does not have the form of those
// from Pending.
func (p Program) Fetch(id string) (string, error) {
	if err := p.Check(); err != nil {
		return "", err
	}
	if id == "" || len(id) > longestID || !only(id, idLetters) {
		return "", fmt.Errorf("%q is not the id of a call", id)
	}
	return p.words() + " --call " + id, nil
}

// data returns the arguments of a call as JSON that every shell leaves unchanged. It returns an
// error if the program, the name or the arguments cannot be written in a command.
func (p Program) data(name string, args json.RawMessage) ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if !tools.ValidName(name) {
		return nil, fmt.Errorf(
			"%.200q cannot be written in a command: a name is 1 to 128 of A-Z a-z 0-9 . _ -", name)
	}
	text, err := portable(args)
	if err != nil {
		return nil, fmt.Errorf("the arguments of %s: %w", name, err)
	}
	return text, nil
}

// guardName returns the name of a tool for a command line. If the name looks like an option, it
// puts "--" before the name, which ends the options. Otherwise a call of a tool named --list would
// list the tools.
func guardName(name string) string {
	if name[0] == '-' {
		return "-- " + name
	}
	return name
}

// Read returns the call that a line runs. It is the inverse of Command and Base64: it writes the
// call again and compares. It returns false unless Command or Base64 would have written exactly
// this line, byte for byte. A looser reading would turn a user's own command in the history into a
// call that no model made.
func (p Program) Read(line string) (name string, args json.RawMessage, ok bool) {
	rest, ok := strings.CutPrefix(line, p.words()+" ")
	if !ok {
		return "", nil, false
	}
	write := p.Command
	if data, found := strings.CutPrefix(rest, "--b64 "); found {
		write = p.Base64
		data, name, _ = strings.Cut(data, " ")
		text, err := base64.RawURLEncoding.DecodeString(data)
		if err != nil {
			return "", nil, false
		}
		args = text
		name = strings.TrimPrefix(name, "-- ")
	} else {
		var quoted string
		name, quoted, _ = strings.Cut(strings.TrimPrefix(rest, "-- "), " ")
		args = json.RawMessage(strings.Trim(quoted, "'"))
	}
	again, err := write(name, args)
	return name, args, err == nil && again == line
}

// ReadFetch returns the id of the pending call that a line runs. It is the inverse of Fetch. It
// returns false for every other line.
func (p Program) ReadFetch(line string) (id string, ok bool) {
	id, ok = strings.CutPrefix(line, p.words()+" --call ")
	again, err := p.Fetch(id)
	return id, ok && err == nil && again == line
}

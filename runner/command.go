package runner

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolnorm/tools"
)

// Program is what starts the runner: one or more words without quotes, as in "python runner.py". Empty is Toolrun.
type Program string

// Toolrun is the program that comes with toolnorm.
const Toolrun Program = "toolrun"

// The longest commands that are written, in bytes of data. What is longer goes by Pending.
const (
	longestInline = 100 << 10 // Linux hands a program at most 128 KiB in one argument
	longestBase64 = 5 << 10   // cmd takes a line of 8,191 characters
)

// ErrTooLong is the error of a command that some shell or system could not take.
var ErrTooLong = errors.New("the arguments are too long for a command line")

// What ids and the words of a program consist of.
const (
	idLetters   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	wordLetters = idLetters + ".:@%+,/-"
	longestID   = 64
)

// only says that a text consists of some characters.
func only(text, letters string) bool { return strings.Trim(text, letters) == "" }

// Check says what is wrong with a program: a word that a shell could read as more than a word, or an absolute path in
// front, which editors take for the name of a file.
func (p Program) Check() error {
	for i, word := range strings.Fields(string(p)) {
		if !only(word, wordLetters) || strings.HasPrefix(word, "//") || i == 0 && only(word[:1], "-/") {
			return fmt.Errorf("a runner is words of A-Z a-z 0-9 _ . : @ %% + , - and /, the first no absolute path; %q is none", word)
		}
	}
	return nil
}

// words are the program's words with one blank between them.
func (p Program) words() string {
	if words := strings.Fields(string(p)); len(words) > 0 {
		return strings.Join(words, " ")
	}
	return string(Toolrun)
}

// Command writes a call for Toolrun, as Program.Command does.
func Command(name string, args json.RawMessage) (string, error) { return Toolrun.Command(name, args) }

// Command writes a call as one line for dash, bash, zsh, fish, ksh and their like: toolrun NAME 'JSON'. The shell hands the
// arguments over as they stand between the quotes, and does nothing else. Arguments that are empty or null are {}. It is
// an error when the name is not of A-Z a-z 0-9 _ . - or the arguments are no JSON object in UTF-8; ErrTooLong when they
// take more than 100 KiB.
func (p Program) Command(name string, args json.RawMessage) (string, error) {
	text, err := p.data(name, args, longestInline)
	if err != nil {
		return "", err
	}
	return p.words() + " " + guarded(name) + " '" + string(text) + "'", nil
}

// Base64 writes a call as one line for PowerShell and cmd, which take quotes apart: toolrun --b64 DATA NAME. The errors are
// those of Command; ErrTooLong comes at 5 KiB.
func (p Program) Base64(name string, args json.RawMessage) (string, error) {
	text, err := p.data(name, args, longestBase64)
	if err != nil {
		return "", err
	}
	return p.words() + " --b64 " + base64.RawURLEncoding.EncodeToString(text) + " " + guarded(name), nil
}

// Fetch writes the command that runs a pending call: toolrun --call ID. It is an error when the id is none that Pending gave.
func (p Program) Fetch(id string) (string, error) {
	if err := p.Check(); err != nil {
		return "", err
	}
	if id == "" || len(id) > longestID || !only(id, idLetters) {
		return "", fmt.Errorf("%q is no id of a call", id)
	}
	return p.words() + " --call " + id, nil
}

// data checks what goes into a command, and gives the arguments as portable JSON of at most so many bytes.
func (p Program) data(name string, args json.RawMessage, most int) ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if !tools.ValidName(name) {
		return nil, fmt.Errorf("%.200q cannot be written in a command: a name is 1 to 128 of A-Z a-z 0-9 . _ -", name)
	}
	text, err := portable(args)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the arguments of %s: %w", name, err)
	case len(text) > most:
		return nil, ErrTooLong
	}
	return text, nil
}

// guarded is the name behind a mark that ends the options when it looks like one.
func guarded(name string) string {
	if name[0] == '-' {
		return "-- " + name
	}
	return name
}

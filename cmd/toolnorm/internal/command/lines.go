package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxInput is how many bytes are read from standard input: as one text, or for one line.
const maxInput = 256 << 20

// errLong is the error of a line that is longer than maxInput.
var errLong = fmt.Errorf("the line has more than %d MiB", maxInput>>20)

// hint prints what the command waits for if standard input is a terminal: without it decode and
// repair seem to hang.
func (m *Console) hint(what string) {
	if isTerminal(m.In) {
		fmt.Fprintf(m.Err, "paste %s, then press Ctrl-D (Ctrl-Z and Enter on Windows)\n", what)
	}
}

// readInput reads all of standard input. It reads up to one byte more than the limit, to tell a
// text of exactly that size from a longer one.
func readInput(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > maxInput {
		return "", fmt.Errorf("standard input: more than %d MiB", maxInput>>20)
	}
	return string(text), nil
}

// answerLines answers each line of the input with one line of JSON, until the input ends. tooLong
// answers lines of more than limit bytes. Each answer is sent before the next line is read, since
// the program at the other end may wait for it before it writes on.
func answerLines(in io.Reader, out io.Writer, limit int, answer func(line []byte) any,
	tooLong func() any) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	buffered := bufio.NewWriter(out)
	replies := json.NewEncoder(buffered)
	replies.SetEscapeHTML(false)
	for {
		line, whole, err := readLine(lines, limit)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		reply := tooLong
		if whole {
			reply = func() any { return answer(line) }
		}
		if err := replies.Encode(reply()); err != nil {
			return err
		}
		if err := buffered.Flush(); err != nil {
			return err
		}
	}
}

// readLine reads a line without its end; the last one may have none. whole is false when the line
// is longer than limit bytes: then it is skipped, and never held in memory as a whole.
func readLine(r *bufio.Reader, limit int) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := r.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= limit+1; whole {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (len(line) > 0 || !whole):
			return line, whole, nil
		}
		return bytes.TrimRight(line, "\r\n"), whole, err
	}
}

// notRequest returns why a line of JSON is not a request. encoding/json names Go's types, which
// mean nothing to the author of the line.
func notRequest(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Errorf("not a request: %s cannot be a JSON %s", wrong.Field, wrong.Value)
	}
	if errors.As(err, &wrong) {
		return fmt.Errorf("not a request: must be an object, not a JSON %s", wrong.Value)
	}
	return fmt.Errorf("not a request: %w", err)
}

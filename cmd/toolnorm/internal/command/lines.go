package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxInput is the most bytes that are read from standard input as one text or as one line.
const maxInput = 256 << 20

// errLong is the error for a line that is longer than maxInput.
var errLong = fmt.Errorf("the line has more than %d MiB", maxInput>>20)

// hint prints what the command waits for, if standard input is a terminal. Without this hint decode
// and repair would seem to hang.
func (m *Console) hint(what string) {
	if isTerminal(m.In) {
		fmt.Fprintf(m.Err, "paste %s, then press Ctrl-D (Ctrl-Z and Enter on Windows)\n", what)
	}
}

// readInput returns all of standard input. It returns an error if that cannot be read or is longer
// than maxInput.
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

// answerLines answers each line of the input with one line of JSON, until the input ends. The
// function tooLong answers lines of more than limit bytes. Each answer is sent before the next line
// is read, since the program at the other end may wait for it before it writes on. It returns an
// error if it cannot read or write.
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

// readLine returns the next line without its end, which the last line may lack. If the line is
// longer than limit bytes, whole is false and the line is skipped, without ever being in memory as
// a whole. It returns io.EOF when there are no more lines.
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

// notRequest returns an error that says why a line of JSON is not a request. The messages of
// encoding/json name Go types, which mean nothing to the author of the line.
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

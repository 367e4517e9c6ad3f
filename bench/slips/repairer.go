package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"toolnorm/chat"
)

// repairer is json_repair, a library that makes JSON of any text, in a Python of its own: one
// text at a time.
type repairer struct {
	sync.Mutex
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

// startRepairer starts Python with a wheel of json_repair.
func startRepairer(wheel string) (*repairer, error) {
	cmd := exec.Command("python3", "-c", file("json_repair.py"))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+wheel)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &repairer{in: in, out: bufio.NewReader(out), cmd: cmd}, cmd.Start()
}

// read repairs the arguments that stand between the head and the tail of a call, as they were to
// be written; false where a slip is not between them.
func (p *repairer) read(whole *frame, text string) (read, bool) {
	args, ok := whole.argumentsIn(text)
	if !ok {
		return read{}, false
	}
	line, _ := json.Marshal(args) // a string cannot fail
	p.Lock()
	defer p.Unlock()
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return read{}, false
	}
	answer, err := p.out.ReadString('\n')
	if answer = strings.TrimSpace(answer); err != nil || !strings.HasPrefix(answer, "{") {
		return read{}, err == nil
	}
	return read{calls: []chat.Call{{Name: whole.tool.Name, Args: []byte(answer)}}}, true
}

// argumentsIn returns what is between the head and the tail of a call in a text with slips;
// false where a slip is not between them.
func (w *frame) argumentsIn(text string) (string, bool) {
	from, to, ok := w.object()
	return between(text, w.text[:from], w.text[to:], ok)
}

// stop ends the Python program.
func (p *repairer) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

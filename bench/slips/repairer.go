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

// repairer is a running Python process with json_repair, a library that makes JSON of any text. It
// repairs one text at a time.
type repairer struct {
	sync.Mutex
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

// startRepairer starts Python with a wheel of json_repair. It returns an error if Python cannot be
// started.
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

// read lets json_repair repair the arguments of a call, and returns the call with the repaired
// arguments. The text is the call with mistakes. read finds the arguments in it by what is before
// and after them in the frame whole, which is the same call without mistakes. If json_repair does
// not return an object, the result has no call. read returns false if the arguments cannot be found
// in this way, or if the process fails.
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

// argumentsIn returns the arguments of the call in text, which is w after slips, the small mistakes
// of models, were made in it. It returns false if a slip is in the text before or after the
// arguments, or if the arguments are not a JSON object.
func (w *frame) argumentsIn(text string) (string, bool) {
	from, to, ok := w.object()
	return between(text, w.text[:from], w.text[to:], ok)
}

// stop ends the Python program.
func (p *repairer) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

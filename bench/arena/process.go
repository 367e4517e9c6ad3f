package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"toolnorm/bench/arena/input"
)

// reply is what a program under comparison answers to an input.
type reply struct {
	ID    string       `json:"id"`
	Calls []input.Call `json:"calls"`
	Skip  bool         `json:"skip"`  // the reader does not claim to read such an input
	Error string       `json:"error"` // why the reader has read nothing
	// after each piece, how many bytes of arguments the reader has sent so far
	Sent []int `json:"sent"`

	took time.Duration
}

// process is a running process of one of the programs that are compared with toolnorm.
type process struct {
	*reader
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte
	falls int  // how often it was started anew
	fresh bool // it has not answered yet; large libraries load slowly
}

// mostFalls is how often a reader is started anew before it is given up.
const mostFalls = 40

// tooLong is the error of a reply for which the reader took too long.
const tooLong = "took too long"

var errFell = errors.New("the reader ended")

// start starts the program whose reading is compared. It returns an error if that fails.
func (p *process) start() error {
	p.cmd = exec.Command(p.command[0], p.command[1:]...)
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.Dir = p.folder
	log, err := os.Create(p.folder + "/log")
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd.Stderr = log
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	lines := make(chan []byte)
	p.lines = lines
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(out, 1<<20)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	return nil
}

// stop kills the process of a program under comparison, and waits for its end.
func (p *process) stop() {
	if p.cmd == nil {
		return
	}
	_ = p.in.Close()
	_ = p.cmd.Process.Kill()
	for range p.lines { // the rest of what it said
	}
	_ = p.cmd.Wait()
	p.cmd = nil
}

// ask gives a reader an input and returns its reply. If the reader crashes or takes too long, the
// reply has an error and no calls, and the next ask starts the reader anew. ask returns an error if
// the reader cannot be started, or has been started too often.
func (p *process) ask(c *input.Case, patience time.Duration) (*reply, error) {
	if p.cmd == nil {
		if p.falls++; p.falls > mostFalls {
			return nil, errFell
		}
		if err := p.start(); err != nil {
			return nil, err
		}
		p.fresh = true
	}
	seen := *c
	seen.Row, seen.Want, seen.Prefix, seen.Base, seen.Like, seen.Note, seen.ToolSet = "", nil,
		false, "", "", "", ""
	line, err := json.Marshal(seen)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	wrote := make(chan struct{})
	go func() { // a reader that fell does not read its line
		_, _ = p.in.Write(append(line, '\n'))
		close(wrote)
	}()
	if p.fresh {
		patience += 20 * time.Second
	}
	p.fresh = false
	begun, look := cpuTime(p.cmd.Process.Pid), time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.stop()
				<-wrote
				return &reply{Error: "ended: " + lastLine(p.folder+"/log")}, nil
			}
			<-wrote
			return readAnswer(line, time.Since(start)), nil
		case <-look.C:
			// Processor time counts and not the time of day, because a busy machine must not change
			// the outcomes.
			if cpuTime(p.cmd.Process.Pid)-begun > patience || time.Since(start) > 12*patience {
				p.stop()
				<-wrote
				return &reply{Error: tooLong}, nil
			}
		}
	}
}

// readAnswer returns the reply in a line that a program under comparison wrote. If the line is not
// JSON, the reply has an error.
func readAnswer(line []byte, took time.Duration) *reply {
	r := &reply{took: took}
	if err := json.Unmarshal(line, r); err != nil {
		return &reply{Error: "no JSON: " + err.Error()}
	}
	return r
}

// cpuTime returns how long a process has run on a processor, or 0 if the system does not say.
func cpuTime(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// lastLine returns the last line of a file, or "" if the file cannot be read.
func lastLine(name string) string {
	b, _ := os.ReadFile(name)
	text := strings.TrimSpace(string(b))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

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

// reply is what a reader answers.
type reply struct {
	ID    string       `json:"id"`
	Calls []input.Call `json:"calls"`
	Skip  bool         `json:"skip"`  // it does not claim to read this
	Error string       `json:"error"` // why it reads nothing
	Sent  []int        `json:"sent"`  // how many bytes of arguments have left behind each piece

	took time.Duration
}

// process is a reader that runs.
type process struct {
	*reader
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte
	falls int  // how often it was started
	fresh bool // it has answered nothing yet: large libraries load slowly
}

// mostFalls is how often a reader is started anew before it is given up.
const mostFalls = 40

// tooLong is what is reported of a reader that worked for too long.
const tooLong = "took too long"

var errFell = errors.New("the reader ended")

// start starts the reader.
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

// stop ends the reader's process.
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

// ask gives a reader an input and returns its reply. A reader that crashes or takes too long has
// read nothing, and is started anew.
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
			// What it has worked counts: a busy machine may not change what is read.
			if cpuTime(p.cmd.Process.Pid)-begun > patience || time.Since(start) > 12*patience {
				p.stop()
				<-wrote
				return &reply{Error: tooLong}, nil
			}
		}
	}
}

// readAnswer parses a line that a reader wrote.
func readAnswer(line []byte, took time.Duration) *reply {
	r := &reply{took: took}
	if err := json.Unmarshal(line, r); err != nil {
		return &reply{Error: "no JSON: " + err.Error()}
	}
	return r
}

// cpuTime returns how long a process has run on a processor; 0 where the system does not tell.
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

// lastLine returns the last line of a file.
func lastLine(name string) string {
	b, _ := os.ReadFile(name)
	text := strings.TrimSpace(string(b))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

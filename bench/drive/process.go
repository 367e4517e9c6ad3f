// Package drive runs proxies as their own processes, sends them load over the loopback interface,
// and reads what it cost them from /proc.
package drive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// Proxy is a running proxy.
type Proxy struct {
	Name string
	URL  string

	cmd *exec.Cmd
}

// Launch starts a program, and waits until it listens at the address that the function args gets.
// The output of the program goes to log. If the program does not listen within ten seconds, 200
// attempts with 50 ms between them, Launch ends it and returns an error.
func Launch(name string, log io.Writer, args func(addr string) []string) (*Proxy, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	argv := args(addr)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Proxy{Name: name, URL: "http://" + addr, cmd: cmd}
	for range 200 {
		if c, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			c.Close()
			return p, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("%s does not listen on %s", name, addr), p.Close())
}

// freeAddr returns an address of the loopback interface on which no program listens, or an error if
// there is none.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// Close asks the process to end, and kills it after five seconds, because toolnorm waits for
// replies that still run. It returns an error if the process cannot be waited for.
func (p *Proxy) Close() error {
	p.cmd.Process.Signal(os.Interrupt)
	ended := time.AfterFunc(5*time.Second, func() { p.cmd.Process.Kill() })
	defer ended.Stop()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil // how it ends when it is told to does not matter here
	}
	return err
}

// CPU returns the processor time that the process has used so far, in user and system mode. It
// returns an error if the system does not report it. It reads schedstat of the threads, which is
// exact to the nanosecond. /proc/PID/stat counts in ticks of 10 ms, which is longer than many
// requests take. Threads that have ended are missing in the sum, but Go's seldom end.
func (p *Proxy) CPU() (time.Duration, error) {
	if p.cmd == nil { // it runs in this process
		return 0, nil
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("%s: no /proc/PID/task/*/schedstat", p.Name)
	}
	var sum time.Duration
	for _, t := range threads {
		b, err := os.ReadFile(t)
		if err != nil {
			return 0, err
		}
		first, _, _ := bytes.Cut(b, []byte(" "))
		ns, err := strconv.ParseInt(string(first), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", t, err)
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// Peak returns the largest amount of memory that the process has had, in bytes. It returns an error
// if the system does not report it.
func (p *Proxy) Peak() (int64, error) { return p.memory("VmHWM:") }

// Resident returns how much memory the process has now, in bytes. It returns an error if the system
// does not report it.
func (p *Proxy) Resident() (int64, error) { return p.memory("VmRSS:") }

// memory returns the amount of memory in the line of the process's status that begins with name, in
// bytes. It returns an error if there is no such line.
func (p *Proxy) memory(name string) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		if size, ok := bytes.CutPrefix(line, []byte(name)); ok {
			var kb int64
			_, err := fmt.Sscanf(string(size), "%d kB", &kb)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("%s: no %s in /proc/PID/status", p.Name, name)
}

//go:build !unix

package remote

import "os/exec"

// Elsewhere there are no groups of processes that a parent could end: the command itself is. What
// npx has started may so outlive it on Windows, until it finds its input closed.
func ownGroup(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

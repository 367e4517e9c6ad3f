//go:build !unix

package remote

import "os/exec"

// Elsewhere there are no groups of processes that a parent could end: the command itself is.
func ownGroup(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

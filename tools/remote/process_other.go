//go:build !unix

package remote

import "os/exec"

// ownGroup does nothing here. Systems other than Unix have no groups of processes that a parent
// could end, so only the command itself is ended. On Windows a server that npx has started may thus
// outlive npx, until it finds its input closed.
func ownGroup(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

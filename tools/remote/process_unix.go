//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a command start in its own process group. npx and uvx start the server as a child,
// which would otherwise outlive them. Also, an interrupt at the terminal then reaches only this
// program, which ends the command itself.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks all processes of the command's group to end, whereas the function kill ends them.
// The group has the same number as the command's process. It is not an error if the group has ended
// already.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

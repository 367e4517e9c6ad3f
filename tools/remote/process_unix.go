//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command its own process group: npx and uvx start the server as a child, which
// outlives them otherwise; and this program passes on an interrupt at the terminal itself.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the group to end, and kill ends it. It is not an error if the group has ended
// already. The group's number is the command's own, and a minus before it means all processes of
// the group.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

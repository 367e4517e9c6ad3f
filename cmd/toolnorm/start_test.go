package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnAddressThatCannotBeListenedAtSaysWhatToDo(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, tt := range []struct {
		listen, want string
		status       int
	}{
		{"11435", "did you mean 127.0.0.1:11435?", statusUsage},
		{"localhost", "did you mean localhost:11435?", statusUsage},
		{"::1", "did you mean [::1]:11435?", statusUsage},
		{"0.0.0.0:0", "no API key is set", statusUsage},
		{other.Addr().String(), "is in use, perhaps by another toolnorm", statusFailed},
	} {
		clean(t, "")
		if _, err := started(t, new(log), "--listen="+tt.listen); err == nil || !strings.Contains(err.Error(), tt.want) || statusOf(err) != tt.status {
			t.Errorf("%s: status %d, %v; want %d with %q", tt.listen, statusOf(err), err, tt.status, tt.want)
		}
	}
}

func TestAFolderThatCannotBeWrittenIsToldOnce(t *testing.T) {
	clean(t, "")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := new(log)
	serving(t, out, "--data", filepath.Join(file, "data"), "--ollama", "127.0.0.1:1")
	if n := strings.Count(out.String(), file); n != 1 || !strings.Contains(out.String(), "nothing can be kept") {
		t.Errorf("the folder is named %d times:\n%s", n, out)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// image is what the last stage of Dockerfile makes.
type image struct {
	root    string // the folder of its files
	env     []string
	user    string
	command []string
}

// readImage follows the last stage by hand, with the release's programs for what the stage before
// it builds: Docker itself is not on every machine. An instruction that is not known here fails, so
// that Dockerfile cannot grow past this test.
func readImage(t *testing.T, dist string) *image {
	t.Helper()
	text := must.Read(t, "../../Dockerfile")
	_, last, ok := strings.Cut(string(text), "FROM scratch\n")
	if !ok || !strings.Contains(string(text), "make programs BIN=/bin/built VERSION=$VERSION") {
		t.Fatal("Dockerfile does not build as the release does, or its last stage is not empty at first")
	}
	i := &image{root: t.TempDir()}
	must.OK(t, os.Chmod(i.root, 0o755))
	for line := range strings.Lines(last) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch args := words[1:]; words[0] {
		case "COPY":
			i.copy(t, dist, args)
		case "ENV":
			i.env = append(i.env, args...)
		case "USER":
			i.user = args[0]
		case "ENTRYPOINT", "CMD":
			var command []string
			if err := json.Unmarshal([]byte(strings.Join(args, " ")), &command); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			i.command = append(i.command, command...)
		case "VOLUME", "EXPOSE": // say what a container shares, not what is in it
		default:
			t.Fatalf("Dockerfile: %s is not known to this test", words[0])
		}
	}
	return i
}

// copy puts a file of the stage before into the image.
func (i *image) copy(t *testing.T, dist string, args []string) {
	t.Helper()
	from, to := args[len(args)-2], filepath.Join(i.root, args[len(args)-1])
	switch {
	case strings.HasPrefix(from, "/bin/built/"):
		copyFile(t, filepath.Join(dist, "programs", runtime.GOOS+"_"+runtime.GOARCH, filepath.Base(from)), to)
		must.OK(t, os.Chmod(to, 0o755))
	case from == "/data":
		var uid, gid int
		if _, err := fmt.Sscanf(args[1], "--chown=%d:%d", &uid, &gid); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		must.OK(t, os.Mkdir(to, 0o755))
		must.OK(t, os.Chown(to, uid, gid))
	case strings.HasPrefix(from, "/etc/ssl/"): // of Debian's ca-certificates
		must.OK(t, os.MkdirAll(to, 0o755))
		copyFile(t, from, filepath.Join(to, filepath.Base(from)))
	default:
		t.Fatalf("Dockerfile copies %s, which is not known to this test", from)
	}
}

// TestReleaseImage runs what the image holds as its user, with nothing else to be seen: it refuses
// to listen to everybody without a key, and serves with one, from files that it cannot change.
func TestReleaseImage(t *testing.T) {
	dist := made(t)
	need(t, "unshare", "chroot", "curl", "ip")
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		lacks(t, "root on Linux, for the files of the image,")
	}
	i := readImage(t, dist)
	start := append([]string{"chroot", "--userspec=" + i.user, i.root}, i.command...)
	c := exec.Command(start[0], start[1:]...)
	c.Env = i.env
	if out, err := c.CombinedOutput(); err == nil || c.ProcessState.ExitCode() != 2 {
		t.Errorf("without keys it ended with %v: %s", err, out)
	}
	script := `ip link set lo up; "$@" & trap 'kill $!; wait $!' EXIT; ` + get + `-H 'Authorization: Bearer 0123456789abcdef0123' http://127.0.0.1:11435/v1/models`
	c = exec.Command("unshare", append([]string{"--net", "sh", "-c", script, "sh"}, start...)...)
	c.Env = append(i.env, "TOOLNORM_API_KEYS=0123456789abcdef0123", "PATH="+os.Getenv("PATH"))
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "demo/hermes") {
		t.Errorf("with a key: %v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(i.root, "data", "mcp.key")); err != nil {
		t.Errorf("nothing was kept in /data: %v", err)
	}
	if got := output(t, "chroot", "--userspec="+i.user, i.root, i.command[0], "--version"); !strings.Contains(got, versionOf(t, dist)) {
		t.Errorf("--version of the image says %q", got)
	}
}

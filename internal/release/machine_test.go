package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// machine is a systemd that runs beside this machine, on a copy of its files: see machine.sh.
type machine struct {
	t   *testing.T
	pid string // of its first process, as this machine sees it
}

// boot starts one, with a folder that is /srv/release inside. The end of the test is its end.
func boot(t *testing.T, shared string) *machine {
	t.Helper()
	need(t, "unshare", "nsenter", "ip", "systemctl", "curl", "openssl", "dpkg", "apt-get")
	if os.Getuid() != 0 {
		lacks(t, "root, for a machine inside this one,")
	}
	var said bytes.Buffer
	c := exec.Command("unshare", "--pid", "--mount", "--fork", "--kill-child", "--cgroup", "--uts", "--ipc", "--net", "./machine.sh", t.TempDir(), shared)
	c.Stdout, c.Stderr = &said, &said
	must.OK(t, c.Start())
	ended := make(chan struct{})
	go func() { c.Wait(); close(ended) }() // ends with the process, which the end of the test kills
	t.Cleanup(func() { c.Process.Kill(); <-ended })
	m := &machine{t: t}
	for range 600 { // a minute; it takes a second
		select {
		case <-ended:
			// Nothing that lane.sh could install: also in CI that is the machine's word.
			t.Skipf("skipped: this machine permits no namespaces, overlays or control groups: %s", said.String())
		case <-time.After(100 * time.Millisecond):
		}
		child, err := exec.Command("pgrep", "-P", strconv.Itoa(c.Process.Pid)).Output()
		if m.pid = strings.TrimSpace(string(child)); err != nil || m.pid == "" {
			continue
		}
		if state, _ := m.try("systemctl", "is-system-running"); strings.Contains(state, "running") {
			return m
		}
	}
	t.Fatalf("no systemd after a minute: %s", said.String())
	return nil
}

// try runs a command inside.
func (m *machine) try(args ...string) (string, error) {
	out, err := exec.Command("nsenter", append([]string{"-t", m.pid, "-p", "-m", "-n", "-i", "-u", "-C", "-r", "-w"}, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// run runs a line of shell inside. When it fails, the test does.
func (m *machine) run(line string) string {
	m.t.Helper()
	out, err := m.try("env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "sh", "-c", line)
	if err != nil {
		log, _ := m.try("journalctl", "-n", "20", "--no-pager", "-o", "cat")
		m.t.Fatalf("%s: %v\n%s\n%s", line, err, out, log)
	}
	return out
}

// want runs a line and says when what it prints does not match.
func (m *machine) want(line, pattern string) {
	m.t.Helper()
	if out := m.run(line); !regexp.MustCompile(pattern).MatchString(out) {
		m.t.Errorf("%s: %s\nwant %s", line, out, pattern)
	}
}

// follow does what docs/install.md tells under a heading, behind some words of it, as somebody and
// in a folder: a user of the page types the same. sudo is left out: whoever runs the line is root
// already.
func (m *machine) follow(as, folder, heading, behind string) {
	m.t.Helper()
	_, section, found := strings.Cut(string(must.Read(m.t, "../../docs/install.md")), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, section, there := strings.Cut(section, behind)
	lines := 0
	for line := range strings.Lines(section) {
		line, code := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		if !code {
			continue
		}
		line = strings.NewReplacer("sudo ", "", "apt install ./toolnorm_0.4.0_linux_amd64.deb", "apt-get install -y /srv/release/first.deb", "apt ", "apt-get -y ").Replace(line)
		m.run("cd " + folder + " && " + as + " sh -c '" + line + "'")
		lines++
	}
	if !found || !there || lines == 0 {
		m.t.Errorf("docs/install.md tells nothing under %q, behind %q", heading, behind)
	}
}

// get is how a page is asked for by a client that waits for a server which is just starting.
const get = "curl -s --max-time 20 --retry 40 --retry-delay 1 --retry-connrefused "

// TestReleaseServiceOfTheSystem is the life of the Debian package: installed offline, enabled,
// protected with a key, upgraded while it runs, removed, purged.
func TestReleaseServiceOfTheSystem(t *testing.T) {
	dist := made(t)
	if runtime.GOOS != "linux" {
		t.Skip("Debian packages are for Linux")
	}
	shared := t.TempDir()
	copyFile(t, one(t, dist, native(".deb")), filepath.Join(shared, "first.deb"))
	copyFile(t, one(t, newer(t), native(".deb")), filepath.Join(shared, "second.deb"))
	m := boot(t, shared)

	m.follow("", "/", "Debian and Ubuntu", "")
	m.want("dpkg --verify toolnorm", `^$`)
	m.want("systemctl is-active toolnorm || true", `^inactive$`)
	m.follow("", "/", "A service of the machine (Linux)", "Then:")
	m.want(get+"http://127.0.0.1:11435/healthz", `ok`)
	m.want(get+"-d '"+strings.ReplaceAll(demoCall, "\n", " ")+"' http://127.0.0.1:11435/v1/chat/completions", `"name":"get_weather"`)
	m.isConfined()

	m.follow("", "/", "A key", "")
	m.want(get+"-o /dev/null -w '%{http_code}' http://127.0.0.1:11435/v1/models", `^401$`)
	withKey := get + `-H "Authorization: Bearer $(sed s/.*=// /etc/toolnorm/toolnorm.env)" `
	m.want(withKey+"http://127.0.0.1:11435/v1/models", `demo/hermes`)
	m.run(`echo 'listen: 127.0.0.1:12000' >>/etc/toolnorm/toolnorm.yaml && systemctl restart toolnorm`)
	m.want(withKey+"http://127.0.0.1:12000/version", `\d`)
	m.run(`echo 'alias: {known: demo/hermes}' >>/etc/toolnorm/toolnorm.yaml && systemctl reload toolnorm`)
	m.want("for i in $(seq 50); do "+withKey+"http://127.0.0.1:12000/v1/models | grep known && exit; sleep 0.1; done", `known`)

	kept, before := m.run("sha256sum /var/lib/toolnorm/mcp.key"), m.run("systemctl show -P MainPID toolnorm")
	m.run("apt-get install -y /srv/release/second.deb")
	if after := m.run("systemctl show -P MainPID toolnorm"); after == before || after == "0" {
		t.Errorf("process %s before the upgrade, %s after it: not restarted", before, after)
	}
	m.want("toolnorm --version", `^toolnorm v99\.0\.0$`)
	m.want(withKey+"http://127.0.0.1:12000/version", `99\.0\.0`)
	m.want("sha256sum /var/lib/toolnorm/mcp.key", kept)

	m.run("apt-get remove -y toolnorm")
	m.want("systemctl is-active toolnorm || true", `^inactive$`)
	m.want("ls /usr/bin/toolnorm /usr/bin/toolrun 2>&1 || true", `No such file(.|\n)*No such file`)
	m.run("test -e /var/lib/toolnorm/mcp.key && test -e /etc/toolnorm/toolnorm.yaml")
	m.follow("", "/", "Uninstall", "the machine's service;")
	m.want("ls -d /etc/toolnorm /var/lib/toolnorm /var/lib/private/toolnorm 2>/dev/null | wc -l", `^0$`)
}

// isConfined holds what the unit promises of the running service, and that the service misses
// nothing of what it gave up.
func (m *machine) isConfined() {
	m.t.Helper()
	m.want("ps -o user= -p $(systemctl show -P MainPID toolnorm)", `^toolnorm$`)
	m.want("grep -E '^(NoNewPrivs|CapEff|Seccomp):' /proc/$(systemctl show -P MainPID toolnorm)/status | tr -s '\\t\\n' '  '", `CapEff: 0+ NoNewPrivs: 1 Seccomp: 2`)
	m.want("systemd-analyze verify toolnorm.service", `^$`)
	m.want("systemd-analyze security --offline=true --threshold=20 $(systemctl show -P FragmentPath toolnorm)", `exposure level`)
	m.want("journalctl -u toolnorm --no-pager -o cat", `/etc/toolnorm/toolnorm.yaml`)
	if log := m.run("journalctl -u toolnorm --no-pager -o cat"); strings.Contains(log, "read-only") || strings.Contains(log, "not permitted") {
		m.t.Errorf("the service may not do what it wants to: %s", log)
	}
}

// TestReleaseServicesOfTheArchive has the archive's programs in a user's own folder, started by the
// user's own systemd, and then in /usr/local/bin, started by the machine's.
func TestReleaseServicesOfTheArchive(t *testing.T) {
	made(t)
	if runtime.GOOS != "linux" {
		t.Skip("systemd is for Linux")
	}
	m := boot(t, unpacked(t))
	m.run("useradd --create-home tester")
	m.run(`printf '[Service]\nUser=tester\nDelegate=yes\nRuntimeDirectory=tester\nEnvironment=XDG_RUNTIME_DIR=/run/tester\nExecStart=/lib/systemd/systemd --user\n' >/run/systemd/system/session.service`)
	m.run("systemctl daemon-reload && systemctl start session")
	m.run("for i in $(seq 100); do [ -S /run/tester/systemd/private ] && exit; sleep 0.1; done; exit 1")
	tester := "setpriv --reuid tester --regid tester --clear-groups env HOME=/home/tester XDG_RUNTIME_DIR=/run/tester "
	m.run(tester + `sh -c 'mkdir -p ~/.local/bin && cp /srv/release/toolnorm /srv/release/toolrun ~/.local/bin'`)
	m.follow(tester, "/srv/release", "A service of your own (Linux)", "")
	m.want(get+"http://127.0.0.1:11435/healthz", `ok`)
	m.want("stat -c %U /home/tester/.local/share/toolnorm/runner.json", `^tester$`)
	m.want(tester+"/home/tester/.local/bin/toolrun --list", `\w`)
	m.run(tester + "systemctl --user disable --now toolnorm")
	m.want(tester+"systemctl --user is-active toolnorm || true", `^inactive$`)

	m.run("cd /srv/release && install toolnorm toolrun /usr/local/bin")
	m.follow("", "/srv/release", "A service of the machine (Linux)", "")
	m.want(get+"http://127.0.0.1:11435/healthz", `ok`)
	m.isConfined()
}

// newer is a release of this source with a higher version, for upgrades.
func newer(t *testing.T) string {
	t.Helper()
	need(t, "make")
	dist := t.TempDir()
	output(t, "make", "-C", "../..", "release", "TARGETS="+runtime.GOOS+"_"+runtime.GOARCH, "VERSION=v99.0.0", "DIST="+dist)
	return dist
}

// copyFile copies a file: a link would lead out of the machine inside.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data := must.Read(t, from)
	must.Write(t, to, data)
}

package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"toolnorm/e2e/gguf"
	"toolnorm/internal/test/must"
)

// instance is a process of a fleet that is killed and started again, at one address.
type instance struct {
	name, addr string
	ready      string // the path that answers with 200
	command    func() *exec.Cmd

	cmd    *exec.Cmd
	starts int
}

// start runs it and waits until it is ready. It leads a group of its own, so that kill takes its
// children along.
func (m *instance) start(l *lane) error {
	m.cmd = m.command()
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	m.starts++
	return l.run(fmt.Sprintf("%s-%d", m.name, m.starts), m.cmd, "http://"+m.addr+m.ready)
}

// kill ends it at once, with its children.
func (m *instance) kill() {
	_ = syscall.Kill(-m.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	_ = m.cmd.Wait()
}

// stop tells it to end, and waits for that.
func (m *instance) stop() error {
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return m.cmd.Wait()
}

// loopback says where the members of a fleet are, in the words of folder deploy. The zero value is
// for configurations that are only read.
type loopback struct {
	replicas, ollamas      []string
	clients, models, watch string // where a balancer listens
	policy                 string // of HAProxy in front of the Ollamas; empty: as the file says
}

// fleet is what deploy/compose.fleet.yml is, as processes of this machine: replicas behind HAProxy
// and nginx, and Ollamas behind HAProxy.
type fleet struct {
	*lane
	at                loopback // of HAProxy
	nginx             string   // its address for clients
	replicas, ollamas []*instance
}

// balancer returns the path of HAProxy or nginx. Debian has them where only root looks.
func balancer(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	demand(t, err, nil)
	return path
}

// serverLine is a server in a configuration of folder deploy.
var serverLine = regexp.MustCompile(`(?m)^.*\b(toolnorm|ollama)-(\d):\d+.*\n`)

// fleetFile writes a configuration of folder deploy with the addresses of a fleet, and returns the
// copy's path.
func fleetFile(t *testing.T, file string, at loopback) string {
	t.Helper()
	src := must.Read(t, file)
	text := serverLine.ReplaceAllStringFunc(string(src), func(line string) string {
		kind := serverLine.FindStringSubmatch(line)
		if kind[2] != "1" {
			return ""
		}
		addrs := map[string][]string{"toolnorm": at.replicas, "ollama": at.ollamas}[kind[1]]
		if len(addrs) == 0 {
			addrs = []string{"127.0.0.1:9"}
		}
		var lines strings.Builder
		for i, addr := range addrs {
			place := regexp.MustCompile(kind[1] + `-1(:\d+)?`)
			lines.WriteString(place.ReplaceAllStringFunc(line, func(word string) string {
				if strings.Contains(word, ":") {
					return addr
				}
				return fmt.Sprint(kind[1], "-", i+1)
			}))
		}
		return lines.String()
	})
	dir := t.TempDir()
	text = strings.NewReplacer(
		"bind :11435", "bind "+cmp.Or(at.clients, "127.0.0.1:9"), "bind :11434", "bind "+cmp.Or(at.models, "127.0.0.1:9"), "bind :8404", "bind "+cmp.Or(at.watch, "127.0.0.1:9"),
		"listen 11435", "listen "+cmp.Or(at.clients, "127.0.0.1:9"), "listen 11434", "listen "+cmp.Or(at.models, "127.0.0.1:9"),
		"http {\n", "http {\n    access_log off;\n"+nginxFolders(dir),
	).Replace(text)
	if at.policy != "" {
		text = hashPolicy.ReplaceAllLiteralString(text, "  balance "+at.policy+"\n")
	}
	out := filepath.Join(dir, filepath.Base(file))
	must.Write(t, out, text)
	return out
}

// hashPolicy is how HAProxy's file chooses an Ollama.
var hashPolicy = regexp.MustCompile(`  balance hash .*\n  hash-type .*\n  hash-balance-factor .*\n`)

// nginxFolders returns the lines by which nginx keeps its files in a folder.
func nginxFolders(dir string) string {
	var lines strings.Builder
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&lines, "    %s_temp_path %s;\n", what, filepath.Join(dir, what))
	}
	return lines.String()
}

// theFleet is what the tests of fleets share.
var (
	theFleet     lane
	fleetOnce    sync.Once
	fleetErr     error
	fleetMissing error
)

// openFleet returns a lane without servers, with the program built.
func openFleet(t *testing.T) *lane {
	t.Helper()
	fleetOnce.Do(func() {
		fleetMissing = locateFolders()
		if fleetMissing == nil {
			_, fleetMissing = os.Stat(installed.newest)
		}
		if fleetMissing == nil {
			fleetErr = errors.Join(theFleet.scratch(), theFleet.build())
			if out, err := exec.Command("go", "build", "-o", theFleet.toolrun(), "toolnorm/cmd/toolrun").CombinedOutput(); err != nil {
				fleetErr = errors.Join(fleetErr, fmt.Errorf("build toolrun: %w\n%s", err, out))
			}
		}
	})
	demand(t, fleetMissing, fleetErr)
	return &theFleet
}

// toolrun is where the lane of a fleet has that program.
func (l *lane) toolrun() string { return filepath.Join(l.dir, "toolrun") }

// fleetModel is the model of a fleet's Ollamas. Its name chooses the format.
const fleetModel = "hermes-fleet"

// serveOllamas starts Ollamas that all have one model of these scripts, out of one folder.
func serveOllamas(t *testing.T, l *lane, count, parallel int, scripts []gguf.Script) (all []*instance) {
	t.Helper()
	m := must.Have(gguf.New(scripts, ""))(t)
	m.Context = 131072
	made := setup{name: fleetModel, template: "tool_call.tmpl", file: fleetModel + ".gguf"}
	must.OK(t, m.WriteFile(filepath.Join(l.dir, made.file)))
	file := must.Have(made.modelfile(l.dir))(t)
	home := t.TempDir()
	for i := range count {
		addr := freeAddress(t)
		one := &instance{name: fmt.Sprintf("%s-ollama-%d", filepath.Base(home), i+1), addr: addr, ready: "/api/version"}
		one.command = func() *exec.Cmd {
			cmd := exec.Command(filepath.Join(installed.newest, "bin", "ollama"), "serve")
			cmd.Env = append(os.Environ(), "OLLAMA_HOST="+addr, "HOME="+filepath.Join(home, fmt.Sprint(i)), "OLLAMA_MODELS="+filepath.Join(home, "models"), "OLLAMA_NO_CLOUD=1",
				fmt.Sprint("OLLAMA_NUM_PARALLEL=", parallel), "OLLAMA_KEEP_ALIVE=1h", "OLLAMA_CONTEXT_LENGTH=131072", "OLLAMA_NOPRUNE=1")
			return cmd
		}
		all = append(all, one)
		must.OK(t, one.start(l))
		if i > 0 {
			continue
		}
		create := exec.Command(filepath.Join(installed.newest, "bin", "ollama"), "create", made.name, "-f", file)
		create.Env = one.cmd.Env
		if out, err := create.CombinedOutput(); err != nil {
			t.Fatalf("create: %v\n%s", err, out)
		}
	}
	return all
}

// freeAddress is freeAddr for a test.
func freeAddress(t *testing.T) string {
	t.Helper()
	return must.Have(freeAddr())(t)
}

// addresses returns those of members.
func addresses(all []*instance) (addrs []string) {
	for _, m := range all {
		addrs = append(addrs, m.addr)
	}
	return addrs
}

// startHAProxy runs HAProxy with a configuration of folder deploy.
func (l *lane) startHAProxy(t *testing.T, at loopback) *instance {
	t.Helper()
	program, file := balancer(t, "haproxy"), fleetFile(t, "../deploy/fleet/haproxy.cfg", at)
	m := &instance{name: "haproxy-" + logName(at.watch), addr: at.watch, ready: "/metrics", command: func() *exec.Cmd { return exec.Command(program, "-db", "-f", file) }}
	must.OK(t, m.start(l))
	return m
}

// startNginx runs nginx in front of the replicas.
func (l *lane) startNginx(t *testing.T, at loopback) {
	t.Helper()
	program, dir := balancer(t, "nginx"), t.TempDir()
	cmd := exec.Command(program, "-p", dir, "-c", fleetFile(t, "../deploy/fleet/nginx.conf", at), "-g", "daemon off; error_log stderr; pid "+dir+"/pid;")
	must.OK(t, l.run("nginx-"+logName(at.clients), cmd, "http://"+at.clients+"/readyz"))
}

// startFleet starts a fleet with a PostgreSQL of its own. Flags are further ones of each replica.
func startFleet(t *testing.T, l *lane, ollamas []*instance, replicas int, flags ...string) *fleet {
	t.Helper()
	store := databases.Postgres(t)
	f := &fleet{lane: l, ollamas: ollamas, nginx: freeAddress(t)}
	f.at = loopback{ollamas: addresses(ollamas), clients: freeAddress(t), models: freeAddress(t), watch: freeAddress(t)}
	for i := range replicas {
		addr := freeAddress(t)
		name := fmt.Sprintf("replica-%d-%s", i+1, logName(addr))
		one := &instance{name: name, addr: addr, ready: "/readyz"}
		one.command = func() *exec.Cmd {
			cmd := exec.Command(l.binary, append([]string{"serve", "--listen", addr, "--data", filepath.Join(l.dir, name), "--store", store, "--ollama", f.at.models,
				"--sample=always", "--ask-before-tools", "*=never", "--num-ctx", "131072", "--drain", "3s", "--grace", "10m", "--max-repeat", "0"}, flags...)...)
			cmd.Env = l.env()
			return cmd
		}
		f.replicas = append(f.replicas, one)
		f.at.replicas = append(f.at.replicas, addr)
		must.OK(t, one.start(l))
	}
	l.startHAProxy(t, f.at)
	l.startNginx(t, loopback{replicas: f.at.replicas, ollamas: f.at.ollamas, clients: f.nginx, models: freeAddress(t)})
	return f
}

// rollingRestart stops and starts each replica in turn.
func (f *fleet) rollingRestart() error {
	for _, one := range f.replicas {
		if err := errors.Join(one.stop(), one.start(f.lane)); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/transcript"
)

// notRun are commands of the documents which this test leaves to others.
var notRun = map[string]string{
	"toolnorm doctor": "internal/doctor and the real lane compare the reports",
}

// TestTheDocumentsCommandsPrintWhatTheyShow runs the commands of README and docs, those behind a
// dollar sign, page by page in a new home. "cat FILE" there shows a file that the page's next
// commands need: it is made.
func TestTheDocumentsCommandsPrintWhatTheyShow(t *testing.T) {
	for _, tool := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no " + tool)
		}
	}
	root := must.Have(filepath.Abs("../.."))(t)
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+"/", ".", "../toolrun").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	pages := must.Have(filepath.Glob(root + "/docs/*.md"))(t)
	n := 0
	for _, page := range append(pages, root+"/README.md") {
		commands := transcript.Commands(string(must.Read(t, page)))
		n += len(commands)
		if len(commands) == 0 {
			continue
		}
		t.Run(strings.TrimPrefix(page, root+"/"), func(t *testing.T) {
			r := newReader(t, root, bin)
			for _, c := range commands {
				r.run(t, c)
			}
		})
	}
	if n < 25 {
		t.Errorf("%d commands", n)
	}
}

// otherFlags are flags in the documents that belong to other programs: docker, git, sha256sum,
// systemctl, llama-server, claude, pg_dump, pg_restore.
const otherFlags = " --add-host --build --clean --cli --reranking --ignore-missing --check --exclude-table-data --if-exists --mcp-config --method --name --now --profile --transport --user "

// TestTheDocumentsNameNoFlagThatIsGone looks each --flag of README and docs up among those of both
// programs.
func TestTheDocumentsNameNoFlagThatIsGone(t *testing.T) {
	parser := must.Have(kong.New(new(commands), kong.Vars{"version": ""}))(t)
	usage := must.Read(t, "../toolrun/usage.txt")
	flag := regexp.MustCompile(`(?:^|[\s\x60'"(])(--[a-z][a-z0-9-]*[a-z0-9])\b(?:[^-*]|$)`)
	known := otherFlags + strings.Join(flag.FindAllString(string(usage), -1), " ") + " "
	err := kong.Visit(parser.Model.Node, func(node kong.Visitable, next kong.Next) error {
		if f, ok := node.(*kong.Flag); ok {
			known += "--" + f.Name + " --no-" + f.Name + " "
		}
		return next(nil)
	})
	must.OK(t, err)
	pages := must.Have(filepath.Glob("../../docs/*.md"))(t)
	for _, page := range append(pages, "../../README.md") {
		src := must.Read(t, page)
		for _, m := range flag.FindAllStringSubmatch(string(src), -1) {
			if !strings.Contains(known, m[1]+" ") {
				t.Errorf("%s names %s, which no program has", page, m[1])
			}
		}
	}
}

// reader tries out a page, with a home and a folder of its own.
type reader struct {
	dir    string
	env    []string
	server *Main // started by the first command that asks it: some pages are about what works without one
}

// Where the documents say that the server and Ollama are.
const (
	documented       = "127.0.0.1:11435"
	documentedOllama = "127.0.0.1:11434"
	nobody           = "127.0.0.1:1"
)

// progress is what a terminal shows as a bar, and clears.
var progress = regexp.MustCompile(`(?m)^\S+: \d+ of \d+\n`)

// newReader returns a reader whose folder has the repository's examples.
func newReader(t *testing.T, root, bin string) *reader {
	t.Helper()
	clean(t, "")
	r := &reader{dir: t.TempDir()}
	must.OK(t, os.Symlink(root+"/examples", r.dir+"/examples"))
	t.Setenv("XDG_DATA_HOME", r.dir+"/.local/share") // where the documents say it is
	t.Setenv("XDG_CONFIG_HOME", r.dir+"/.config")
	r.env = append(os.Environ(), "HOME="+r.dir, "PATH="+bin+":"+os.Getenv("PATH"), "OLLAMA_HOST="+nobody)
	return r
}

// run runs one command and compares.
func (r *reader) run(t *testing.T, c transcript.Command) {
	t.Helper()
	for prefix := range notRun {
		if strings.HasPrefix(c.Text, prefix) {
			return
		}
	}
	if name, shown := strings.CutPrefix(c.Text, "cat "); shown && !strings.ContainsAny(name, " |<>/") {
		must.Write(t, filepath.Join(r.dir, name), c.Output)
		return
	}
	text := strings.NewReplacer("localhost:11435", documented, documentedOllama, nobody).Replace(c.Text)
	if strings.Contains(text, documented) {
		if r.server == nil {
			r.server = serving(t, io.Discard, "--ollama", nobody)
		}
		text = strings.ReplaceAll(text, documented, strings.TrimPrefix(r.server.URL(), "http://"))
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", text)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, _ := cmd.CombinedOutput()
	got := strings.ReplaceAll(progress.ReplaceAllString(string(out), ""), nobody, documentedOllama)
	if r.server != nil {
		got = strings.ReplaceAll(got, strings.TrimPrefix(r.server.URL(), "http://"), documented)
	}
	if c.Output == "" && cmd.ProcessState.ExitCode() != 0 || c.Output != "" && !c.Prints(got) {
		t.Errorf("line %d: %s\nprints\n%s\nthe page shows\n%s", c.Line, c.Text, got, c.Output)
	}
}

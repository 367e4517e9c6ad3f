package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/internal/test/must"
)

func TestAnAddressThatCannotBeListenedAtSaysWhatToDo(t *testing.T) {
	other := must.Listen(t, "127.0.0.1:0")
	defer other.Close()
	for _, tt := range []struct {
		listen, want string
		status       int
	}{
		{"11435", "did you mean 127.0.0.1:11435?", command.StatusUsage},
		{"localhost", "did you mean localhost:11435?", command.StatusUsage},
		{"::1", "did you mean [::1]:11435?", command.StatusUsage},
		{"0.0.0.0:0", "no API key is set", command.StatusUsage},
		{other.Addr().String(), "is in use, perhaps by another toolnorm", command.StatusFailed},
	} {
		clean(t, "")
		if _, err := started(t, new(log), "--listen="+tt.listen); err == nil || !strings.Contains(err.Error(), tt.want) || command.StatusOf(err) != tt.status {
			t.Errorf("%s: status %d, %v; want %d with %q", tt.listen, command.StatusOf(err), err, tt.status, tt.want)
		}
	}
}

func TestAFolderThatCannotBeWrittenIsToldOnce(t *testing.T) {
	clean(t, "")
	file := filepath.Join(t.TempDir(), "file")
	must.Write(t, file, "")
	out := new(log)
	serving(t, out, "--data", filepath.Join(file, "data"), "--ollama", "127.0.0.1:1")
	if n := strings.Count(out.String(), file); n != 1 || !strings.Contains(out.String(), "nothing can be kept") {
		t.Errorf("the folder is named %d times:\n%s", n, out)
	}
}

// writing is an Ollama with a model m that writes a first text, and then what rest does.
func writing(t *testing.T, first string, rest func(http.ResponseWriter, *http.Request)) string {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/api/chat":
			if strings.Contains(string(body), "_debug_render_only") {
				http.Error(w, `{"error":"unknown"}`, http.StatusBadRequest)
				return
			}
			fmt.Fprintf(w, `{"model":"m","message":{"role":"assistant","content":%q},"done":false}`+"\n", first)
			w.(http.Flusher).Flush()
			rest(w, r)
		case "/api/show":
			fmt.Fprintln(w, `{"capabilities":["completion"],"model_info":{}}`)
		case "/api/version":
			fmt.Fprintln(w, `{"version":"0.34.3"}`)
		default:
			fmt.Fprintln(w, `{"models":[{"name":"m","model":"m"}]}`)
		}
	}))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h.URL
}

func TestAReplyThatIsCutByTheEndSaysSo(t *testing.T) {
	clean(t, "")
	out := new(log)
	url := writing(t, "Hi, this is the beginning of a long story.\n\nOnce upon a time", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	m := serving(t, out, "--upstream", "box=ollama+"+url, "--grace", "20ms")
	resp := must.Open(t, "POST", m.URL()+"/v1/chat/completions", `{"model":"box/m","stream":true,"messages":[{"role":"user","content":"hi"}]}`, "Content-Type: application/json")
	defer resp.Body.Close()
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(out.String(), `"models":1`) && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if !strings.Contains(out.String(), `"models":1`) {
		t.Errorf("the log does not count the server's models:\n%s", out)
	}
	stream := bufio.NewReader(resp.Body)
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(stream)
		t.Fatalf("%s %s", resp.Status, text)
	}
	for line := ""; !strings.Contains(line, "Hi"); {
		var err error
		if line, err = stream.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	must.OK(t, m.Close())
	rest, _ := io.ReadAll(stream)
	if !strings.Contains(string(rest), "toolnorm is being stopped") {
		t.Errorf("the stream ends with %q", rest)
	}
	for _, want := range []string{`"requests":1`, "Ctrl-C again"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, out)
		}
	}
}

package e2e

import (
	"net"
	"os/exec"
	"path/filepath"
)

// llama are the llama-servers that toolnorm asks directly. Each serves one model.
type llama struct{ chat, embed *server }

// startLlama starts the llama-server that comes with the newest Ollama, once with the scripted
// model and its template, and once with the model that embeds.
func (l *lane) startLlama() (err error) {
	l.llama.chat, err = l.startLlamaServer("native")
	if err == nil {
		l.llama.embed, err = l.startLlamaServer("embed", "--embedding")
	}
	return err
}

func (l *lane) startLlamaServer(model string, flags ...string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	serve := exec.Command(filepath.Join(installed.newest, "lib", "ollama", "llama-server"), append([]string{
		"-m", filepath.Join(l.dir, model+".gguf"), "--alias", model, "--jinja", "-np", "1", "-t", "1", "-c", "8192",
		"--host", host, "--port", port, "--no-webui"}, flags...)...)
	s := &server{name: "llama-server", base: "http://" + addr, setups: []setup{{name: model, prefix: "llama/"}}}
	s.flags = []string{"--upstream", "llama=" + s.base}
	return s, l.run("llama-"+model, serve, s.base+"/health")
}

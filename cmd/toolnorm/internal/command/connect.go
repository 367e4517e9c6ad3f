package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"toolnorm/cmd/toolnorm/internal/connect"
	"toolnorm/internal/home"
)

// Connect is the command connect, which adds this server to the settings of an editor or agent.
type Connect struct {
	Folders
	Client string `arg:"" optional:"" help:"The editor or agent. Without one they are listed, with the model servers of this machine."`
	Server string `env:"-" placeholder:"URL" default:"http://127.0.0.1:11435" help:"The address of toolnorm."`
	Model  string `env:"-" help:"The model that the client asks. Default: the first that the server lists."`
	Key    string `env:"-" default:"any" help:"The API key, where the server has keys. It is written into the client's file."`
	Yes    bool   `env:"-" short:"y" help:"Write without asking."`
	Try    bool   `env:"-" help:"Have the client make one tool call afterwards: it reads a file in a folder of its own. For Claude Code, Codex, Continue's cn, opencode, pi and Qwen Code."`
	Undo   bool   `env:"-" help:"Give the client's files back as they were."`
}

// Help returns the details that the command's help shows.
func (c *Connect) Help() string {
	return "The change is shown first. Other settings and comments of the client's file stay; how it was is kept in the data folder, so that --undo gives back the same bytes."
}

// Run connects or disconnects the client, or lists all clients if none is named. It returns an
// error if the client is unknown, if its files cannot be read or written, or if the user declines.
func (c *Connect) Run(m *Console) error {
	user, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	data, err := home.Data(c.Data)
	if err != nil {
		return err
	}
	folder := filepath.Join(data, "connect")
	if c.Client == "" {
		return listClients(m, user, folder)
	}
	all := connect.Clients()
	i := slices.IndexFunc(all, func(o connect.Client) bool { return o.Name == c.Client })
	if i < 0 {
		return Wrong(fmt.Errorf(
			"there is no client %q; toolnorm connect lists them, and docs/editors.md has others",
			c.Client))
	}
	client := all[i]
	if c.Undo {
		return c.undo(m, client, folder)
	}
	s := connect.Server{URL: strings.TrimSuffix(strings.TrimRight(c.Server, "/"), "/v1"),
		Model: c.Model, Key: c.Key}
	if s.Model == "" {
		if s.Model, err = firstModel(s); err != nil {
			return err
		}
	}
	if err := c.write(m, client, user, folder, s); err != nil {
		return err
	}
	if steps := client.ByHand(s); len(steps) > 0 {
		fmt.Fprintln(m.Out, "By hand:")
		for _, step := range steps {
			fmt.Fprintf(m.Out, "  - %s\n", step)
		}
	}
	return c.try(m, client, user, s)
}

// undo restores the files of a client. If one of them was changed after it was connected, undo asks
// the user first. It returns an error if the user declines or a file cannot be restored.
func (c *Connect) undo(m *Console, client connect.Client, folder string) error {
	paths, err := client.Undo(folder, false)
	var changed *connect.Changed
	if errors.As(err, &changed) {
		for _, change := range changed.Undoing {
			fmt.Fprintf(m.Out, "%s was changed since:\n%s", printable(change.Path),
				shownDiff(change))
		}
		if !c.Yes && !m.agrees(
			"Give it back as it was all the same? What it holds now is kept as NAME.changed.") {
			return err
		}
		paths, err = client.Undo(folder, true)
	}
	for _, path := range paths {
		fmt.Fprintf(m.Out, "as it was: %s\n", path)
	}
	return err
}

// write shows the changes to the client's files, and then makes them. It returns an error if the
// user declines. If the files need no change, it does nothing.
func (c *Connect) write(m *Console, client connect.Client, user, folder string,
	s connect.Server) error {
	changes, err := client.Plan(user, folder, s)
	if err != nil {
		return err
	}
	differ := false
	for _, change := range changes {
		fmt.Fprintf(m.Out, "%s\n%s", printable(change.Path), shownDiff(change))
		differ = differ || change.New || !bytes.Equal(change.Before, change.After)
	}
	if !differ {
		return nil
	}
	if !c.Yes && !m.agrees("Write this?") {
		return errors.New("nothing was written; -y writes without asking")
	}
	if err := client.Write(folder, changes); err != nil {
		return err
	}
	fmt.Fprintf(m.Out, "%s asks %s for %s. toolnorm connect %[1]s --undo takes it back.\n",
		c.Client, s.URL, s.Model)
	return nil
}

// tryTime is how long one tool call may take. It is long because a local model may have to read a
// prompt of 50 KB first.
const tryTime = 10 * time.Minute

// try runs the client for one tool call, unless the user declines. It returns an error if the call
// fails, or if the flag Try is set and the client's program cannot be run.
func (c *Connect) try(m *Console, client connect.Client, user string, s connect.Server) error {
	program, err := client.Program()
	switch {
	case err != nil && c.Try:
		return fmt.Errorf("%s: %w", c.Client, err)
	case err != nil || !c.Try && (c.Yes || !m.agrees(
		"Have it make one tool call now? It reads a file in a folder of its own.")):
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, tryTime, fmt.Errorf("nothing after %v", tryTime))
	defer cancel()
	fmt.Fprintf(m.Err,
		"%s reads a file; with a local model that can take minutes. Ctrl-C ends it.\n",
		printable(program))
	began := time.Now()
	if err := client.Try(ctx, user, s); err != nil {
		return fmt.Errorf("%s: %w\n%s/admin#/live shows what was said", c.Client, err, s.URL)
	}
	fmt.Fprintf(m.Out, "%s made a tool call, and answered from its result, in %v.\n", c.Client,
		time.Since(began).Round(100*time.Millisecond))
	return nil
}

// listClients prints the clients, with whether each is installed, and the model servers of this
// machine. It returns an error if the table cannot be written.
func listClients(m *Console, user, folder string) error {
	rows := [][]string{{"CLIENT", "STATE", "FILE"}}
	for _, c := range connect.Clients() {
		state, paths := "not found", c.Paths(user)
		switch {
		case c.Connected(folder):
			state = "connected"
		case c.Installed(user):
			state = "found"
		case len(paths) == 0:
			state, paths = "by hand", []string{"toolnorm connect " + c.Name + " says what to enter"}
		}
		rows = append(rows, []string{c.Name, state, strings.Replace(paths[0], user, "~", 1)})
	}
	if err := table(m.Out, m.Width(), rows); err != nil {
		return err
	}
	rows, others := [][]string{{"SERVER", "AT", "MODELS"}}, ""
	for _, f := range connect.Servers(context.Background()) {
		rows = append(rows, []string{f.Name, f.URL, strconv.Itoa(f.Models)})
		if f.Name != "ollama" {
			others += " --upstream " + f.Name + "=" + f.URL
		}
	}
	fmt.Fprintln(m.Out)
	if len(rows) == 1 {
		fmt.Fprintln(m.Out,
			"No model server answers at the usual ports of this machine. Start Ollama, or name one: toolnorm serve --upstream NAME=URL")
		return nil
	}
	if err := table(m.Out, m.Width(), rows); err != nil || others == "" {
		return err
	}
	fmt.Fprintf(m.Out, "Ollama is used without a setting, the others by: toolnorm serve%s\n",
		others)
	return nil
}

// askTime is how long a server may take to list its models.
const askTime = 10 * time.Second

// firstModel returns the first model of the server s that is neither a demo nor a knowledge base
// and has no suffix. It returns an error if there is none or the server does not list its models.
func firstModel(s connect.Server) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/models", nil)
	if err != nil {
		return "", Wrong(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", End(fmt.Errorf(
			"toolnorm does not answer at %s: %w; start it, or name a model by --model", s.URL, err),
			StatusUnreachable)
	}
	defer resp.Body.Close()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf(
			"%s lists no models: %s; give a key by --key, or name a model by --model", s.URL,
			resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&list); err != nil {
		return "", err
	}
	for _, model := range list.Data {
		if !strings.HasPrefix(model.ID, "demo/") && !strings.HasPrefix(model.ID, "kb/") &&
			!strings.Contains(model.ID, "@") {
			return model.ID, nil
		}
	}
	return "", errors.New("the server has no model but the demo models; name one by --model")
}

// agrees asks a question on a terminal, and reports whether the answer is yes. Without a terminal
// it returns false, since there is no user to answer.
func (m *Console) agrees(question string) bool {
	if !isTerminal(m.In) {
		return false
	}
	fmt.Fprintf(m.Err, "%s [y/N] ", question)
	line, _ := bufio.NewReader(m.In).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(line), "y")
}

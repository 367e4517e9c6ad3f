package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolnorm/cmd/toolnorm/internal/connect"
	"toolnorm/internal/home"
)

// Connect puts this server into the settings of an editor or agent.
type Connect struct {
	Folders
	Client string `arg:"" optional:"" help:"The editor or agent. Without one they are listed."`
	Server string `env:"-" placeholder:"URL" default:"http://127.0.0.1:11435" help:"The address of toolnorm."`
	Model  string `env:"-" help:"The model that the client asks. Default: the first that the server lists."`
	Key    string `env:"-" default:"any" help:"The API key, where the server has keys. It is written into the client's file."`
	Yes    bool   `env:"-" short:"y" help:"Write without asking."`
	Undo   bool   `env:"-" help:"Give the client's files back as they were."`
}

// Help says more.
func (c *Connect) Help() string {
	return "The change is shown first. Other settings and comments of the client's file stay; how it was is kept in the data folder, so that --undo gives back the same bytes."
}

// Run does it.
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
		return Wrong(fmt.Errorf("there is no client %q; toolnorm connect lists them, and docs/editors.md has others", c.Client))
	}
	if c.Undo {
		paths, err := all[i].Undo(folder)
		for _, path := range paths {
			fmt.Fprintf(m.Out, "as it was: %s\n", path)
		}
		return err
	}
	s := connect.Server{URL: strings.TrimSuffix(strings.TrimRight(c.Server, "/"), "/v1"), Model: c.Model, Key: c.Key}
	if s.Model == "" {
		if s.Model, err = firstModel(s); err != nil {
			return err
		}
	}
	changes, err := all[i].Plan(user, s)
	if err != nil {
		return err
	}
	for _, change := range changes {
		fmt.Fprintf(m.Out, "%s\n%s", shown(change.Path), shownDiff(change))
	}
	if !c.Yes && !m.agrees("Write this?") {
		return errors.New("nothing was written; -y writes without asking")
	}
	if err := all[i].Write(folder, changes); err != nil {
		return err
	}
	fmt.Fprintf(m.Out, "%s asks %s for %s. toolnorm connect %[1]s --undo takes it back.\n", c.Client, s.URL, s.Model)
	return nil
}

// listClients lists the clients and which of them are there.
func listClients(m *Console, user, folder string) error {
	rows := [][]string{{"CLIENT", "STATE", "FILE"}}
	for _, c := range connect.Clients() {
		state := "not found"
		if c.Installed(user) {
			state = "found"
		}
		if c.Connected(folder) {
			state = "connected"
		}
		rows = append(rows, []string{c.Name, state, c.Paths(user)[0]})
	}
	return table(m.Out, m.Width(), rows)
}

// askTime bounds the question for the models.
const askTime = 10 * time.Second

// firstModel asks a server for its models and returns the first that is no demo and no model with a suffix.
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
		return "", End(fmt.Errorf("toolnorm does not answer at %s: %w; start it, or name a model by --model", s.URL, err), StatusUnreachable)
	}
	defer resp.Body.Close()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s lists no models: %s; give a key by --key, or name a model by --model", s.URL, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&list); err != nil {
		return "", err
	}
	for _, model := range list.Data {
		if !strings.HasPrefix(model.ID, "demo/") && !strings.HasPrefix(model.ID, "kb/") && !strings.Contains(model.ID, "@") {
			return model.ID, nil
		}
	}
	return "", errors.New("the server has no model but the demo models; name one by --model")
}

// agrees asks a question on a terminal. Elsewhere nobody can answer, and that is a no.
func (m *Console) agrees(question string) bool {
	if !isTerminal(m.In) {
		return false
	}
	fmt.Fprintf(m.Err, "%s [y/N] ", question)
	line, _ := bufio.NewReader(m.In).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(line), "y")
}

// shownDiff returns a change by its lines: those that stay are left out, but for the one in front of a change.
func shownDiff(c connect.Change) string {
	before, after := strings.SplitAfter(string(c.Before), "\n"), strings.SplitAfter(string(c.After), "\n")
	// longest[i][k] is how many lines before[i:] and after[k:] have in common; settings are short
	longest := make([][]int, len(before)+1)
	for i := range longest {
		longest[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for k := len(after) - 1; k >= 0; k-- {
			longest[i][k] = max(longest[i+1][k], longest[i][k+1])
			if before[i] == after[k] {
				longest[i][k] = longest[i+1][k+1] + 1
			}
		}
	}
	var b strings.Builder
	line := func(sign, text string) {
		if text = strings.TrimRight(text, "\r\n"); text != "" {
			b.WriteString("  " + sign + " " + shown(text) + "\n")
		}
	}
	last := ""
	for i, k := 0, 0; i < len(before) || k < len(after); {
		switch {
		case i < len(before) && k < len(after) && before[i] == after[k]:
			last = before[i]
			i++
			k++
			continue
		case k == len(after) || i < len(before) && longest[i+1][k] >= longest[i][k+1]:
			line(" ", last)
			line("-", before[i])
			i++
		default:
			line(" ", last)
			line("+", after[k])
			k++
		}
		last = ""
	}
	if b.Len() == 0 {
		return "  nothing to change\n"
	}
	return b.String()
}

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/internal/home"
	"toolnorm/internal/toolbox"
)

// Folders has the settings that say where the user's own files are. Serve and every command that
// reads these files embed the same fields. So a setting has the same name and help everywhere, and
// one settings file is enough for all commands.
type Folders struct {
	Data   string `placeholder:"DIR" restart:"yes" help:"Data folder: database, keys, your own families/*.txt. Default: ~/.local/share/toolnorm."`
	Config string `placeholder:"FILE" restart:"yes" help:"YAML file with settings. Default: ~/.config/toolnorm/toolnorm.yaml, on macOS ~/Library/Application Support/toolnorm/toolnorm.yaml; it need not be there."`
}

// Stores has the settings that say where the data of the tools is, for commands that work on it
// while serve runs.
type Stores struct {
	Folders  `embed:""`
	Database `embed:""`
}

// there returns an error if the data folder or the store does not exist. It is for commands that
// only read. Otherwise a wrong path would become a new, empty store, for which an export with
// --prune removes all files.
func (s Stores) there() error {
	for _, path := range []string{s.Data, s.Store} {
		if path == "" || strings.Contains(path, "://") {
			continue
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return Wrong(fmt.Errorf("there is no %s, which --data or --store names", path))
		}
	}
	return nil
}

// Database has the setting that says where the data of the tools is, if it is not in the data
// folder.
type Database struct {
	Store string `placeholder:"WHERE" restart:"yes" help:"Database of the tools: the absolute path of a SQLite file, or postgres://… Default: db/mcp_data.db in the data folder. Knowledge bases are in knowledge.db beside it, or in the same PostgreSQL."`
}

// Sources has the setting that lists the databases of custom tools.
type Sources struct {
	Connection map[string]string `aliases:"connections" placeholder:"NAME=WHERE" restart:"yes" help:"Databases that custom SQL tools may ask, read-only: the absolute path of a SQLite file (#table,table behind it lists those that may be read), postgres://… with a role that may only SELECT, or env:VARIABLE for either. The connection sample is always there."`
}

// ollamaServer has the setting with the address of Ollama. It has the same name as for serve.
type ollamaServer struct {
	Ollama string `default:"127.0.0.1:11434" env:"TOOLNORM_OLLAMA,OLLAMA_HOST" help:"Address of the Ollama server, in any form that OLLAMA_HOST takes. Of several, with commas between them, the first is asked."`
}

// base returns the base URL of the first Ollama server that the setting names, or an error if the
// setting is not valid.
func (s ollamaServer) base() (string, error) {
	bases, err := ollama.ParseHosts(s.Ollama)
	if err != nil {
		return "", err
	}
	return bases[0], nil
}

// formats returns the formats of the program and those of the user. Files that cannot be used only
// cause warnings. It returns an error if there is no data folder.
func (f Folders) formats(m *Console) (*adapters.Set, error) {
	dir, err := home.Data(f.Data)
	if err != nil {
		return nil, err
	}
	set, odd := FormatsIn(filepath.Join(dir, "families"))
	for _, err := range odd {
		m.warn(err.Error())
	}
	return set, nil
}

// FormatsIn returns the formats of the program, and those that the user has put into dir, if dir
// exists. A format of the user that cannot be read is left out, so another one is used for its
// models; the result odd has the error.
func FormatsIn(dir string) (set *adapters.Set, odd []error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return adapters.Builtin(), nil
	}
	set, odd = adapters.Builtin().Load(os.DirFS(dir))
	for i, err := range odd {
		odd[i] = fmt.Errorf("model families in %s: %w", dir, err)
	}
	return set, odd
}

// formatIn returns the format of that name in the set, or an error if there is none.
func formatIn(set *adapters.Set, name string) (*adapters.Format, error) {
	if f := set.Named(name); f != nil {
		return f, nil
	}
	return nil, Wrong(fmt.Errorf("no format %q; toolnorm formats list names them", name))
}

// ReadTools returns the tools in the file at path, or nil if path is empty. The file may contain
// OpenAI's list or a whole request, since people may have either. It returns an error if the file
// cannot be read or is neither of them.
func ReadTools(path string) ([]chat.Tool, error) {
	return readList("tools", path, chat.ParseTools)
}

// readList returns the result of parse for the text of the file at path, or nil if path is empty.
// It returns an error if the file cannot be read or parsed. The argument flag is the name of the
// flag that has named the file.
func readList[T any](flag, path string, parse func([]byte) ([]T, error)) ([]T, error) {
	if path == "" {
		return nil, nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, Wrong(fmt.Errorf("%s: %w", flag, err))
	}
	list, err := parse(src)
	if err != nil {
		return nil, Wrong(fmt.Errorf("%s: %w", path, err))
	}
	return list, nil
}

// withToolbox opens the data of the tools, which serve may use at the same time, and calls do with
// it. A signal ends the context of do. Unlike serve, it fails if a part that do needs could not be
// opened: the function needs reports whether that part is there. It also returns the errors of do
// and of closing the data.
func withToolbox(data string, c toolbox.Config, needs func(*toolbox.Box) bool,
	do func(context.Context, *toolbox.Box) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var err error
	if c.Data, err = home.Data(data); err != nil {
		return Wrong(err)
	}
	var odd []error
	c.Odd = func(err error) { odd = append(odd, err) }
	box, err := toolbox.Open(ctx, c)
	switch {
	case err != nil:
		return err
	case !needs(box):
		return errors.Join(append(odd, box.Close())...)
	}
	return errors.Join(do(ctx, box), box.Close())
}

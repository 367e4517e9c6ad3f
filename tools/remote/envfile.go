package remote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// largestEnvFile bounds a file of variables in bytes.
const largestEnvFile = 64 << 10

// assignment matches a line of a file of variables: a name, and a value that may be in quotes, with
// a comment behind it.
var assignment = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*` +
	`(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(.*?))(?:\s+#.*)?$`)

// escaped replaces escape sequences within double quotes.
var escaped = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`, `\$`,
	`$`)

// readEnvFile returns the variables in a file, one NAME=value in each line, as editors and Docker
// have them. A path that is not absolute begins at dir. It returns an error that names the file,
// and never its content, if it cannot be read.
func readEnvFile(path, dir string) (map[string]string, error) {
	if !filepath.IsAbs(path) {
		if dir == "" {
			return nil, fmt.Errorf("its envFile %q has to be an absolute path, or cwd be given",
				path)
		}
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is no file")
	case err == nil && info.Size() > largestEnvFile:
		err = fmt.Errorf("it has more than %d bytes", largestEnvFile)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	var in *os.PathError
	if errors.As(err, &in) {
		err = in.Err
	}
	if err != nil {
		return nil, fmt.Errorf("its envFile %q cannot be read: %w", path, err)
	}
	all := map[string]string{}
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		m := assignment.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("line %d of its envFile %q is not NAME=value", i+1, path)
		}
		all[m[1]] = escaped.Replace(m[2]) + m[3] + m[4]
	}
	return all, nil
}

package main

import (
	"fmt"
	"maps"

	"github.com/rs/zerolog"

	"toolnorm/internal/auth"
)

// readKeys returns the keys in the list words and, unless the parameter file is "", those in the
// file of that name. The parameter setting is the name of the setting that has the words. The name
// of the file's setting has -file at its end. Single keys that cannot be used are recorded and left
// out. It returns an error that names the setting if the words or the file cannot be read.
func (s *settings) readKeys(setting string, words []string, file string) (auth.Keys, error) {
	all, odd, err := auth.ParseKeys(words)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	s.leaveOut(setting, odd)
	if file == "" {
		return all, nil
	}
	more, odd, err := auth.ReadKeys(file)
	if err != nil {
		return nil, fmt.Errorf("%s-file: %w", setting, err)
	}
	s.leaveOut(setting+"-file", odd)
	return append(all, more...), nil
}

// withoutFormats removes entries of the setting format that name an unknown format, if some of the
// user's own formats could not be read. It records these entries in s.
func (c *Config) withoutFormats(s *settings) {
	if !s.oddFamilies {
		return
	}
	s.unread = map[string]string{}
	c.Format = maps.Clone(c.Format)
	for model, name := range c.Format {
		if s.formats.Named(name) == nil {
			s.unread[model] = name
			delete(c.Format, model)
			s.leaveOut("format", []error{fmt.Errorf("there is no format %q for %s", name, model)})
		}
	}
}

// leaveOut records the errors of parts of a setting that cannot be used.
func (s *settings) leaveOut(setting string, odd []error) {
	for _, err := range odd {
		s.odd = append(s.odd, fmt.Errorf("%s: %w", setting, err))
	}
}

// sayOdd logs those parts of the settings that cannot be used and are left out.
func sayOdd(log zerolog.Logger, s settings) {
	for _, err := range s.odd {
		log.Warn().Str("error", fmt.Sprintf("%.500s", err)).Msg(
			"this cannot be used and is left out; it is read again when its file changes")
	}
}

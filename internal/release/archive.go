package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"slices"
	"time"
)

// entry is a file or folder of a package.
type entry struct {
	name string // with slashes, from the root of the package
	mode int64
	// nil: it is a folder
	data []byte
}

// sortEntries returns entries sorted by name, so that archives do not depend on the order in which
// they were found.
func sortEntries(entries []entry) []entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b entry) int {
		return cmp.Compare(a.name, b.name)
	})
}

// writeTarGz writes entries as a compressed tar archive to w, with prefix before each name. The
// gzip header has no name and no time, so the same input always gives the same bytes. The error is
// that of w.
func writeTarGz(w io.Writer, prefix string, entries []entry, at time.Time) error {
	zw := gzip.NewWriter(w)
	tw := tar.NewWriter(zw)
	for _, e := range withFolders(prefix, entries) {
		head := &tar.Header{Name: prefix + e.name, Mode: e.mode, Size: int64(len(e.data)),
			ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatGNU}
		if e.data == nil {
			head.Typeflag = tar.TypeDir
		}
		if err := tw.WriteHeader(head); err != nil {
			return err
		}
		if _, err := tw.Write(e.data); err != nil {
			return err
		}
	}
	return errors.Join(tw.Close(), zw.Close())
}

// withFolders returns entries, sorted, with an entry for each folder before the folder's first
// file. dpkg needs the entries of folders, because it could not remove a folder that belongs to no
// package.
func withFolders(prefix string, entries []entry) (all []entry) {
	there := map[string]bool{".": true}
	var folder func(name string)
	folder = func(name string) {
		if !there[name] {
			there[name] = true
			folder(path.Dir(name))
			all = append(all, entry{name: name + "/", mode: 0o755})
		}
	}
	if prefix != "" {
		all = append(all, entry{mode: 0o755})
	}
	for _, e := range sortEntries(entries) {
		folder(path.Dir(e.name))
		all = append(all, e)
	}
	return all
}

// writeZip writes entries as a zip archive, which Windows opens without an additional program. The
// error is that of w.
func writeZip(w io.Writer, prefix string, entries []entry, at time.Time) error {
	zw := zip.NewWriter(w)
	for _, e := range sortEntries(entries) {
		f, err := zw.CreateHeader(&zip.FileHeader{Name: prefix + e.name, Method: zip.Deflate,
			Modified: at})
		if err != nil {
			return err
		}
		if _, err := f.Write(e.data); err != nil {
			return err
		}
	}
	return zw.Close()
}

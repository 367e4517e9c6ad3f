// Command release packs the programs that make has built for every platform: archives, Debian
// packages, the list of what is in them, and checksums. "make release" runs it; it is not part of
// the product.
//
// The same commit gives the same bytes: entries stand in order, belong to root, and bear the
// commit's time.
//
//	main.go      the order of the work, and the checksums
//	content.go   what a package holds, and under which names
//	pages.go     the documents, without links to what is not packed; manual pages
//	archive.go   tar.gz and zip
//	deb.go       Debian packages
//	modules.go   what the programs are made of: the SBOM and the licences
//	files        what is packed as it is: units, scripts of the Debian package, settings
//	version.sh   the version of a checkout
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "",
		"version of the programs: a tag, or what version.sh prints")
	maintainer := flag.String("maintainer", "",
		"who answers for the Debian package: NAME <ADDRESS>")
	homepage := flag.String("homepage", "",
		"where the project is at home; empty: the package does not say")
	flag.Parse()
	r := &release{dist: flag.Arg(0), version: strings.TrimPrefix(*version, "v"),
		maintainer: *maintainer, homepage: *homepage}
	if err := r.run(os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one version, packed in one folder. The built programs are in dist/programs/OS_ARCH.
type release struct {
	dist    string
	version string    // without the v of a tag, as in names of files
	time    time.Time // the time of every packed file

	maintainer, homepage string // named in the Debian packages
}

// run packs everything that make has built. The parameter epoch is the value of SOURCE_DATE_EPOCH,
// in seconds; by convention of reproducible builds it is the time of all files. run fails if the
// time or the arguments are invalid, or if any file cannot be packed.
func (r *release) run(epoch string) error {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	if r.dist == "" || r.version == "" {
		return errors.New("usage: SOURCE_DATE_EPOCH=… release --version VERSION FOLDER")
	}
	r.time = time.Unix(seconds, 0).UTC()
	builds, err := r.builds()
	if err != nil {
		return err
	}
	all, err := partsOf(builds...)
	if err != nil {
		return err
	}
	if err := r.writeSBOM(all); err != nil {
		return err
	}
	shells, err := completions(builds)
	if err != nil {
		return err
	}
	for _, b := range builds {
		if err := r.pack(b, shells); err != nil {
			return fmt.Errorf("%s: %w", b.target(), err)
		}
	}
	return r.writeChecksums()
}

// build is the folder of one platform's programs.
type build struct{ dir, os, arch string }

// target returns the platform as names of files contain it, for example linux_amd64.
func (b build) target() string { return b.os + "_" + b.arch }

// exe returns the name of a program's file on that platform.
func (b build) exe(program string) string {
	if b.os == "windows" {
		return program + ".exe"
	}
	return program
}

// builds returns the builds that make has left in dist/programs, sorted by name. It fails if a
// folder there is not named OS_ARCH.
func (r *release) builds() (all []build, err error) {
	dirs, err := os.ReadDir(filepath.Join(r.dist, "programs"))
	if err != nil {
		return nil, err
	}
	for _, d := range dirs {
		system, arch, ok := strings.Cut(d.Name(), "_")
		if !ok {
			return nil, fmt.Errorf("%s is no platform", d.Name())
		}
		all = append(all, build{filepath.Join(r.dist, "programs", d.Name()), system, arch})
	}
	return all, nil
}

// pack writes the archive of one platform and, for Linux, its Debian package. It fails if a file
// cannot be read or written, or a part has no licence.
func (r *release) pack(b build, shells map[string][]byte) error {
	all, err := partsOf(b)
	if err != nil {
		return err
	}
	texts, err := licences(all)
	if err != nil {
		return err
	}
	archive, debian, err := contents(b, shells, texts)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("toolnorm_%s_%s", r.version, b.target())
	if b.os == "windows" {
		return r.create(name+".zip", func(w io.Writer) error {
			return writeZip(w, name+"/", archive, r.time)
		})
	}
	if err := r.create(name+".tar.gz", func(w io.Writer) error {
		return writeTarGz(w, name+"/", archive, r.time)
	}); err != nil {
		return err
	}
	if b.os != "linux" {
		return nil
	}
	return r.create(name+".deb", func(w io.Writer) error {
		return writeDeb(w, identity{debVersion(r.version), b.arch, r.maintainer, r.homepage},
			debian, r.time)
	})
}

// create creates a file of the release and calls the function write to fill it. It fails if the
// file cannot be created or the function fails.
func (r *release) create(name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(r.dist, name))
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// writeChecksums writes SHA256SUMS in the format that sha256sum and shasum read. It fails if a file
// cannot be read or written.
func (r *release) writeChecksums() error {
	files, err := os.ReadDir(r.dist) // in the order of the names
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.dist, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return os.WriteFile(filepath.Join(r.dist, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

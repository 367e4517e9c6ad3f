package kb

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"toolnorm/tools/kb/kbstore"
)

// sampleFiles is an HR handbook in Korean, Japanese and English. The evaluation of searches asks
// about it as well.
//
//go:embed sample
var sampleFiles embed.FS

// sample is the knowledge base that comes with the program. It has the id in the tools'
// specification, so that the examples there can be called as they are written.
var sample = kbstore.Base{
	ID: "cf23c222-b024-4533-81aa-52e4f673281e", Name: "Employee handbook",
	Description: "Rules and benefits of a company, in Korean, Japanese and English",
}

// Sample creates the sample knowledge base, with a collection for each language, and returns it. A
// second call only adds what is missing, and leaves other documents in the base alone. It uses the
// ordinary import, so that the sample is cut, indexed and embedded like the user's own documents.
// It returns an error if there is no store, or if the store or the model fails.
func (k *KB) Sample(ctx context.Context) (kbstore.Base, error) {
	if k.Store == nil {
		return sample, errors.New("no store of knowledge bases is open")
	}
	b, err := k.Store.Base(ctx, sample.ID)
	if errors.Is(err, kbstore.ErrNotFound) {
		b, err = k.Store.Create(ctx, sample)
	}
	if err != nil {
		return b, err
	}
	for _, language := range []string{"ko", "ja", "en"} {
		files, err := fs.Sub(sampleFiles, "sample/"+language)
		if err != nil {
			return b, err
		}
		sources, err := fs.Glob(files, "*.md")
		if err != nil {
			return b, err
		}
		if _, err := k.Import(ctx, Import{Base: b, Collection: language, Files: files,
			Sources: sources}); err != nil {
			return b, err
		}
	}
	return b, nil
}

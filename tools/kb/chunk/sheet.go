package chunk

import (
	"bytes"
	"encoding/xml"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// readXLSX reads an Excel spreadsheet: the rows of each sheet below the sheet's name, with the
// values as they are shown, and the texts of boxes. Hidden sheets are left out. Hidden rows are
// read, because a filter hides rows as well. It returns an error if the file cannot be opened, is
// encrypted or too large.
func readXLSX(data []byte) (Text, error) {
	a, err := openArchive(data)
	if err != nil {
		return Text{}, err
	}
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{
		UnzipSizeLimit: mostPartBytes, UnzipXMLSizeLimit: mostPartBytes, // no temporary files
		ShortDatePattern: "yyyy-mm-dd",
	})
	switch {
	case errors.Is(err, excelize.ErrWorkbookFileFormat):
		return Text{}, errOldOffice
	// the library has no name for it
	case err != nil && strings.Contains(err.Error(), "unzip size"):
		return Text{}, errUnpacked
	case err != nil:
		return Text{}, errNoZip
	}
	defer book.Close()
	f := &flow{elements: new(elements)}
	merged := mergedCells(data)
	hidden := 0
	for _, name := range book.GetSheetList() {
		if visible, err := book.GetSheetVisible(name); err == nil && !visible {
			hidden++
			continue
		}
		f.restart()
		f.enter(1, name)
		rows, err := sheetRows(book, name)
		if err != nil {
			f.tell("sheet " + name + ": " + err.Error())
		}
		fillMerged(rows, merged[name])
		f.addSheet(rows)
	}
	f.tell(leftOutHidden(hidden, "sheet"))
	f.restart()
	f.boxes(a)
	f.Title = a.titleIn("docProps/core.xml")
	return f.whole()
}

// sheetRows returns the rows of a sheet. If the sheet is damaged or too large, it returns an error,
// and the rows before the damage or the limit.
func sheetRows(book *excelize.File, name string) (all [][]string, err error) {
	rows, err := book.Rows(name)
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	defer rows.Close()
	size := 0
	for rows.Next() {
		row, err := rows.Columns()
		if err != nil {
			return all, errors.New("it is damaged, and was read up to there")
		}
		for _, text := range row {
			size += len(text)
		}
		if size > mostText {
			return all, errTooMuch
		}
		all = append(all, row)
	}
	if rows.Error() != nil {
		err = errors.New("it is damaged, and was read up to there")
	}
	return all, err
}

// mergedCells returns the ranges of merged cells of each sheet, as "A2:A4", by the sheets' names.
// It reads the file itself, since the library for spreadsheets would keep whole sheets in memory.
func mergedCells(data []byte) map[string][]string {
	all := map[string][]string{}
	a, err := openArchive(data) // which has its own limit of unpacked bytes
	if err != nil {
		return all
	}
	main := a.main("xl/workbook.xml")
	related := a.related(main)
	a.elementsOf(main).each(func(e xml.StartElement) {
		at, has := related[relationID(e)]
		if e.Name.Local != "sheet" || !has {
			return
		}
		name := attribute(e, "name")
		a.elementsOf(at.part).each(func(e xml.StartElement) {
			if e.Name.Local == "mergeCell" {
				all[name] = append(all[name], attribute(e, "ref"))
			}
		})
	})
	return all
}

// fillMerged copies the text of each merged cell from its first row to the others, except to rows
// that are otherwise empty. The ranges are those of merged cells, such as "A2:A4".
func fillMerged(rows [][]string, ranges []string) {
	var g grid
	for _, at := range ranges {
		from, to, _ := strings.Cut(at, ":")
		column, first, err := excelize.CellNameToCoordinates(from)
		_, last, err2 := excelize.CellNameToCoordinates(to)
		if err != nil || err2 != nil || first > len(rows) || column > len(rows[first-1]) {
			continue
		}
		text := rows[first-1][column-1]
		for i := first; i < min(last, len(rows)); i++ {
			if filled, _ := extent(rows[i]); filled < 0 || !g.room(text) {
				continue
			}
			for len(rows[i]) < column {
				rows[i] = append(rows[i], "")
			}
			if rows[i][column-1] == "" {
				rows[i][column-1] = text
			}
		}
	}
}

// boxes reads the texts of boxes and charts on the sheets.
func (f *flow) boxes(a *archive) {
	f.roles = maps.Clone(slideRoles)
	f.roles["pic"] = func(*flow, xml.StartElement) {}
	for _, name := range slices.Sorted(maps.Keys(a.parts)) {
		if strings.HasPrefix(name, "xl/drawings/drawing") ||
			strings.HasPrefix(name, "xl/charts/chart") {
			f.run(a.elementsOf(name))
		}
	}
}

"""Writes office files with the libraries that programs write them with: make.py FOLDER SEED COUNT.

Beside each file stands NAME.want, what has to be in its text, and NAME.never, what must not be, a phrase a line.
"""
import datetime
import email.message
import pathlib
import random
import sys

import docx
import openpyxl
import pptx
from docx.enum.section import WD_SECTION
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from openpyxl.styles import Font
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

folder, seed, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
r = random.Random(seed)

WORDS = {
    "en": "leave travel expense budget remote office manager approval contract holiday invoice receipt policy safety visitor laptop".split(),
    "de": "Urlaub Reisekosten Genehmigung Vertrag Gehalt Überstunden Büro Straße Prüfung Bestellung Lieferung Größe".split(),
    "ja": "副業 規程 申請 承認 経費 出張 勤務 休暇 契約 部署 手当 在宅 請求書 会議室 研修".split(),
    "ko": "휴가 출장 경비 승인 계약 부서 수당 재택근무 회의실 교육 급여 신청서 규정".split(),
    "ru": "отпуск договор бюджет заявка расходы отдел командировка согласование".split(),
    "zh": "请假 报销 合同 审批 部门 预算 会议室 培训 加班".split(),
}
taken = 0


def unique():
    """A word that stands nowhere else."""
    global taken
    taken += 1
    return "q%dz%s" % (taken, "".join(r.choices("bcdfghjklmnp", k=5)))


def words(lang, n):
    between = "" if lang in ("ja", "zh") else " "
    return between.join(r.choice(WORDS[lang]) for _ in range(n))


def sentence(lang):
    end = "。" if lang in ("ja", "zh") else "."
    return words(lang, r.randint(4, 14)) + " " + unique() + end


class Made:
    """A file that is being made, with what it has to say."""

    def __init__(self, name):
        self.path, self.want, self.never = folder / name, [], []
        self.lang = r.choice(list(WORDS))

    def says(self, text=None):
        text = text or sentence(self.lang)
        self.want.append(text)
        return text

    def hides(self):
        text = unique()
        self.never.append(text)
        return text

    def done(self):
        (folder / (self.path.name + ".want")).write_text("\n".join(self.want), encoding="utf-8")
        (folder / (self.path.name + ".never")).write_text("\n".join(self.never), encoding="utf-8")


def element(name, **attributes):
    e = OxmlElement(name)
    for key, value in attributes.items():
        e.set(qn("w:" + key), value)
    return e


def run_of(text, tag="w:t"):
    run, t = OxmlElement("w:r"), OxmlElement(tag)
    t.text = text
    t.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    run.append(t)
    return run


def word(n):
    m = Made("word%d.docx" % n)
    d = docx.Document()
    if r.random() < 0.5:
        d.core_properties.title = m.says("Handbook " + unique())
    elif r.random() < 0.5:
        d.add_heading(m.says(words(m.lang, 3) + " " + unique()), 0)
    for _ in range(r.randint(3, 8)):
        d.add_heading(m.says(words(m.lang, 3) + " " + unique()), r.randint(1, 3))
        for _ in range(r.randint(1, 5)):
            word_block(d, m)
    d.sections[0].footer.paragraphs[0].text = "footer of the page"
    d.save(m.path)
    m.done()


def word_block(d, m):
    kind = r.randrange(10)
    if kind < 4:
        p = d.add_paragraph(m.says())
        p.add_run(" " + m.says(unique())).bold = True
    elif kind == 4:
        for _ in range(r.randint(2, 5)):
            d.add_paragraph(m.says(), style=r.choice(["List Bullet", "List Number"]))
    elif kind == 5:
        rows, columns = r.choice([(3, 3), (40, 4), (2, 2)])
        table = d.add_table(rows, columns)
        for row in table.rows:
            for cell in row.cells:
                cell.text = m.says(words(m.lang, 2) + " " + unique())
        if r.random() < 0.5:
            table.cell(0, 0).merge(table.cell(0, 1))
        if r.random() < 0.3:
            table.cell(1, 1).add_table(2, 2).cell(0, 0).text = m.says(unique())
    elif kind == 6:  # tracked changes
        p = d.add_paragraph(m.says())
        gone, new = element("w:del", id="1", author="a"), element("w:ins", id="2", author="a")
        gone.append(run_of(m.hides(), "w:delText"))
        new.append(run_of(" " + m.says(unique())))
        p._p.append(gone)
        p._p.append(new)
    elif kind == 7:  # a reading above a word
        p = d.add_paragraph(m.says())
        run, ruby, rt, base = OxmlElement("w:r"), OxmlElement("w:ruby"), OxmlElement("w:rt"), OxmlElement("w:rubyBase")
        rt.append(run_of("かんじ"))
        base.append(run_of(m.says("漢字" + unique())))
        ruby.append(element("w:rubyPr"))
        ruby.append(rt)
        ruby.append(base)
        run.append(ruby)
        p._p.append(run)
    elif kind == 8:  # hidden text, a field
        p = d.add_paragraph(m.says())
        hidden = p.add_run(m.hides())
        hidden.font.hidden = True
        for part in (element("w:fldChar", fldCharType="begin"), run_of("PAGE", "w:instrText"), element("w:fldChar", fldCharType="end")):
            run = OxmlElement("w:r")
            run.append(part)
            p._p.append(part if part.tag == qn("w:r") else run)
    else:
        d.add_section(WD_SECTION.NEW_PAGE)
        d.add_paragraph(m.says() + "\t" + m.says(unique()) + "\n" + m.says(unique()))


def sheet(n):
    m = Made("sheet%d.xlsx" % n)
    book = openpyxl.Workbook()
    for i in range(r.randint(1, 3)):
        ws = book.active if i == 0 else book.create_sheet()
        ws.title = m.says(unique())
        hidden = i > 0 and r.random() < 0.4
        if hidden:
            ws.sheet_state = "hidden"
            m.never.append(m.want.pop())
        say = (lambda text=None: m.hides()) if hidden else m.says
        at = 1
        if r.random() < 0.4:
            ws.cell(1, 1, say())
            at = 3
        columns = r.randint(2, 7)
        for c in range(columns):
            ws.cell(at, 1 + c, say(words(m.lang, 1) + " " + unique())).font = Font(bold=True)
        for row in range(at + 1, at + r.randint(2, 60)):
            for c in range(columns):
                sheet_value(ws.cell(row, 1 + c), c, say, m)
    book.save(m.path)
    m.done()


def sheet_value(cell, c, say, m):
    kind = r.randrange(6)
    if c == 0 or kind < 2:
        cell.value = say(words(m.lang, 2) + " " + unique())
    elif kind == 2:
        cell.value = r.randint(0, 10**6)
    elif kind == 3:
        cell.value = round(r.uniform(0, 1000), 2)
        cell.number_format = r.choice(["0.00", "General", "#,##0.00", "0%"])
    elif kind == 4:
        cell.value = datetime.date(2020, 1, 1) + datetime.timedelta(days=r.randint(0, 2000))
        cell.number_format = "yyyy-mm-dd"
    elif kind == 5 and r.random() < 0.3:
        cell.value = r.choice([True, False])


def slides(n):
    m = Made("slides%d.pptx" % n)
    p = pptx.Presentation()
    for _ in range(r.randint(2, 8)):
        layout = r.choice([0, 1, 3, 5, 6])
        s = p.slides.add_slide(p.slide_layouts[layout])
        hidden = r.random() < 0.1
        say = (lambda text=None: m.hides()) if hidden else m.says
        if hidden:
            s._element.set("show", "0")
        for shape in s.placeholders:
            shape.text_frame.text = say(words(m.lang, 3) + " " + unique())
            if r.random() < 0.5:
                shape.text_frame.add_paragraph().text = say()
        if r.random() < 0.4:
            box = s.shapes.add_textbox(Inches(1), Inches(5), Inches(5), Inches(1))
            box.text_frame.text = say()
        if r.random() < 0.3:
            table = s.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
            for row in table.rows:
                for cell in row.cells:
                    cell.text = say(unique())
        if r.random() < 0.2:
            data = CategoryChartData()
            data.categories = [say(unique()) for _ in range(3)]
            data.add_series(say(unique()), (1, 2, 3))
            s.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(6), Inches(3), data)
        if r.random() < 0.2:
            group = s.shapes.add_group_shape()
            group.shapes.add_textbox(Inches(1), Inches(6), Inches(5), Inches(1)).text_frame.text = say()
        if r.random() < 0.5:
            s.notes_slide.notes_text_frame.text = say()
    p.save(m.path)
    m.done()


ENCODINGS = {"en": "utf-8", "de": "utf-16", "ja": "cp932", "ko": "cp949", "ru": "utf-8-sig", "zh": "utf-8"}


def table(n):
    m = Made("table%d.%s" % (n, r.choice(["csv", "tsv"])))
    comma = "\t" if m.path.suffix == ".tsv" else r.choice(",;")
    lines = []
    for _ in range(r.randint(3, 60)):
        row = [m.says(words(m.lang, 3) + unique()), m.says(words(m.lang, 2) + " " + unique()), str(r.randint(0, 1000))]
        lines.append(comma.join('"%s"' % v if r.random() < 0.3 else v for v in row))
    lines.insert(0, comma.join([words(m.lang, 1) + "1", words(m.lang, 1) + "2", words(m.lang, 1) + "3"]))
    m.path.write_bytes("\r\n".join(lines).encode(ENCODINGS[m.lang]))
    m.done()


def mail(n):
    m = Made("mail%d.eml" % n)
    e = email.message.EmailMessage()
    e["Subject"] = m.says(words(m.lang, 3) + " " + unique())
    e["From"] = "%s <someone@example.com>" % unique()
    e["To"] = "other@example.com"
    e["Date"] = "Mon, 23 Nov 2026 10:00:00 +0000"
    charset = r.choice(["utf-8", ENCODINGS[m.lang].replace("utf-16", "utf-8").replace("-sig", "")])
    e.set_content("\n\n".join(m.says() for _ in range(3)), charset=charset, cte=r.choice(["base64", "quoted-printable", "8bit"]))
    if r.random() < 0.5:
        e.add_alternative("<p>%s</p>" % unique(), subtype="html")
    if r.random() < 0.5:
        e.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename=m.says(words(m.lang, 1) + unique() + ".pdf"))
    m.path.write_bytes(e.as_bytes())
    m.done()


folder.mkdir(parents=True, exist_ok=True)
for n in range(count):
    for make in (word, sheet, slides, table, mail):
        make(n)

"""Small files of every format that holds texts, written by the standard library alone."""

import io
import struct
import tarfile
import zipfile
from xml.sax.saxutils import escape

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def make_zip(members, compression=zipfile.ZIP_DEFLATED):
    """Return a zip archive of names and contents."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def make_tar(members, mode="w", headers=None):
    """Return a tar archive of names and contents, each after further headers; mode "w:gz" for a compressed one."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.pax_headers = headers or {}
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def name_column(number):
    """Return the letters of a column of a spreadsheet: 0 is A."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def make_sheet(rows):
    """Return the XML of a sheet of .xlsx."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = []
        for column, value in enumerate(row):
            place = f"{name_column(column)}{number}"
            if value is None:
                continue
            if isinstance(value, int | float):
                cells.append(f'<c r="{place}"><v>{value}</v></c>')
            else:
                cells.append(f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>')
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    return f'<worksheet xmlns="{SHEET}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def make_xlsx(sheets):
    """Return a spreadsheet of names and rows of sheets; a sheet may also be given as XML."""
    numbers = range(1, len(sheets) + 1)
    kind = f"{RELATIONS}/worksheet"
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        for n in numbers
    )
    named = zip(numbers, sheets, strict=True)
    listed = "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>' for n, name in named)
    related = "".join(f'<Relationship Id="rId{n}" Type="{kind}" Target="worksheets/sheet{n}.xml"/>' for n in numbers)
    members = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        f"{overrides}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>',
    }
    for n, content in zip(numbers, sheets.values(), strict=True):
        members[f"xl/worksheets/sheet{n}.xml"] = content if isinstance(content, str) else make_sheet(content)
    return make_zip(members)


def make_ods(rows, attributes=""):
    """Return an OpenDocument spreadsheet with one sheet; `attributes` are those of each cell."""
    cells = [
        "".join(
            f'<table:table-cell office:value-type="string" {attributes}><text:p>{escape(value)}</text:p>'
            "</table:table-cell>"
            for value in row
        )
        for row in rows
    ]
    lines = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    office = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{office}:office:1.0" xmlns:table="{office}:table:1.0" '
        f'xmlns:text="{office}:text:1.0"><office:body><office:spreadsheet><table:table table:name="Sheet1">{lines}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry '
        'manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
    )
    return make_zip(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": content,
            "META-INF/manifest.xml": manifest,
        }
    )


def make_xls(rows):
    """Return an .xls file: a sheet of short texts: a stream of records in a file system of sectors of 512 bytes."""
    begin = struct.pack("<HHII", 0x7CC, 0, 0, 0)
    cells = [
        make_record(0x204, struct.pack("<4HB", row, column, 0, len(text), 0) + text.encode("latin-1"))
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    ]
    end = make_record(0x0A)
    globals_ = [make_record(0x809, struct.pack("<HH", 0x600, 5) + begin)]
    place = len(globals_[0]) + 4 + 9 + len(end)
    globals_ += [make_record(0x85, struct.pack("<IHBB", place, 0, 1, 0) + b"S"), end]
    stream = b"".join([*globals_, make_record(0x809, struct.pack("<HH", 0x600, 16) + begin), *cells, end])
    stream = stream.ljust(max(4096, -(-len(stream) // 512) * 512), b"\0")
    n = len(stream) // 512  # of the stream; then the directory, then the table of the sectors that follow each other
    none, last = 0xFFFFFFFF, 0xFFFFFFFE
    entries = (
        ("Root Entry", 5, 1, last, 0),
        ("Workbook", 2, none, 0, len(stream)),
        ("", 0, none, 0, 0),
        ("", 0, none, 0, 0),
    )
    folder = b"".join(
        name.encode("utf-16-le").ljust(64, b"\0")
        + struct.pack("<HBB3I36xIQ", 2 * len(name) + 2, kind, 1, none, none, child, start, size)
        for name, kind, child, start, size in entries
    )
    table = struct.pack("<128I", *range(1, n), last, last, 0xFFFFFFFD, *[none] * (126 - n))
    head = struct.pack(
        "<8s16x5H6x9I", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 62, 3, 0xFFFE, 9, 6, 0, 1, n, 0, 4096, last, 0, last, 0
    )
    return head + struct.pack("<109I", n + 1, *[none] * 108) + stream + folder + table


def make_record(kind, content=b""):
    """Return a record of an .xls file."""
    return struct.pack("<HH", kind, len(content)) + content


def make_docx(paragraphs, doctype=""):
    """Return a Word document; a paragraph that begins with "# " is a heading."""
    lines = []
    for text in paragraphs:
        style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' if text.startswith("# ") else ""
        lines.append(f"<w:p>{style}<w:r><w:t>{escape(text.removeprefix('# '))}</w:t></w:r></w:p>")
    body = f'{doctype}<w:document xmlns:w="{WORD}"><w:body>{"".join(lines)}</w:body></w:document>'
    return make_zip({"word/document.xml": body})


def make_pdf(pages):
    """Return a PDF file with a page of text for each entry; lines end in a line feed."""
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"}
    kids = []
    for number, text in enumerate(pages):
        page, content = 4 + 2 * number, 5 + 2 * number
        kids.append(f"{page} 0 R")
        escaped = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in text.split("\n")]
        shown = " T* ".join(f"({line}) Tj" for line in escaped)
        stream = f"BT /F1 12 Tf 14 TL 50 800 Td {shown} ET".encode("latin-1")
        objects[page] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
        objects[content] = f"<< /Length {len(stream)} >>\nstream\n".encode() + stream + b"\nendstream"
    objects[2] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    data, places = b"%PDF-1.4\n", []
    for number in sorted(objects):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + objects[number] + b"\nendobj\n"
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    data += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    return data + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()


def make_mail(text, subject="A subject", date="Mon, 02 Jan 2023 10:00:00 +0000", sender="ann@example.org"):
    """Return a mail with a plain text."""
    header = f"From: {sender}\nTo: bob@example.org\nSubject: {subject}\nDate: {date}\n"
    return f"{header}Content-Type: text/plain; charset=utf-8\n\n{text}\n".encode()


def make_mbox(mails):
    """Return a mailbox of mails."""
    lines = [mail.replace(b"\nFrom ", b"\n>From ") for mail in mails]
    return b"".join(b"From ann@example.org Mon Jan  2 10:00:00 2023\n" + mail + b"\n" for mail in lines)


def make_srt(lines):
    """Return subtitles with a cue for each line."""
    times = [f"00:{n // 60:02}:{n % 60:02},000 --> 00:{n // 60:02}:{n % 60:02},900" for n in range(len(lines))]
    return "".join(
        f"{n}\n{time}\n<i>{line}</i>\n\n" for n, (time, line) in enumerate(zip(times, lines, strict=True), 1)
    )

"""The files of the page with ten tasks: small planted collections, as users have them."""

import csv

from tests.helpers.planted_texts import planted_texts
from tests.helpers.text_files import make_pdf, make_xlsx, make_zip


def write_task_files(folder):
    """Write the files that the page names into a folder."""
    texts, labels = planted_texts(160, 0)
    dates = [f"20{18 + i % 5}-0{1 + i % 9}-11" for i in range(len(texts))]
    with open(folder / "articles.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "section", "date"])
        writer.writerows(zip(range(len(texts)), texts, labels, dates, strict=True))
    rows = [["id", "text", "section", "date"], *map(list, zip(map(str, range(160)), texts, labels, dates, strict=True))]
    (folder / "articles.xlsx").write_bytes(make_xlsx({"Articles": rows}))
    (folder / "texts.zip").write_bytes(make_zip({f"{number:03}.txt": text for number, text in enumerate(texts)}))
    (folder / "papers").mkdir()
    for number, text in enumerate(texts):
        (folder / "papers" / f"{number:03}.pdf").write_bytes(make_pdf([text.replace(" ", "\n")]))

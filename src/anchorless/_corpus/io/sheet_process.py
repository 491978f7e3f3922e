"""Read a sheet by python-calamine, which no other module imports, and print its rows as JSON: a process of its own.

The library keeps a sheet in memory, aborts the process where that is too small, and can follow the sectors of an .xls
file in a circle. A file of a few kilobytes can ask for billions of cells in many ways. This file is run as a script
with the spreadsheet as stdin, and imports nothing of this package, so that it starts in a twentieth of a second.
"""

from __future__ import annotations

import datetime
import json
import signal
import sys
from contextlib import suppress
from typing import IO, Any

#: Longer texts are no names of columns below a title.
MAX_NAME_LENGTH = 60


def limit_memory(n_bytes: int | None) -> None:
    """Let this process have so many bytes, but not more than it may have already."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limits = [limit for limit in (n_bytes, soft) if limit is not None and limit != resource.RLIM_INFINITY]
        if limits:
            resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))


def limit_seconds(seconds: float) -> None:
    """Let the system end this process after so many seconds of computing; 0: never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def read_sheet(library: Any, file: IO[bytes], wanted: str | None) -> tuple[list[str], str | None, list[list[Any]]]:
    """Return the names of the sheets, and the name and the cells of the wanted one, or the first that is not blank.

    Hidden sheets, which often hold lists of choices, come after all others.
    """
    workbook = library.CalamineWorkbook.from_filelike(file)
    names = list(workbook.sheet_names)
    hidden = {sheet.name for sheet in workbook.sheets_metadata if sheet.visible != library.SheetVisibleEnum.Visible}
    rows: list[list[Any]] = []
    for name in sorted(names, key=hidden.__contains__) if wanted is None else [wanted] * (wanted in names):
        rows = workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
        if any(is_filled(cell) for row in rows for cell in row):
            return names, name, rows
    return names, None, rows


def is_filled(cell: Any) -> bool:
    """Say whether a cell holds something."""
    return cell is not None and cell != ""


def count_title_rows(rows: list[list[Any]]) -> int:
    """Return the number of rows above the names of the columns: those with a single cell, such as a title.

    What follows them must look like names: at least two short texts, all different.
    """
    for n, row in enumerate(rows):
        filled = [cell for cell in row if is_filled(cell)]
        if len(filled) > 1:
            are_names = all(isinstance(cell, str) and len(cell) <= MAX_NAME_LENGTH for cell in filled)
            return n if are_names and len(set(filled)) == len(filled) else 0
    return 0


def cell_to_text(cell: Any) -> str | None:
    """Return the value of a cell as text: numbers without a needless .0, dates as ISO 8601; None for an empty one."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)


def describe_failure(library: Any, error: BaseException) -> dict[str, Any]:
    """Return what the other process is told about a file that cannot be read."""
    if isinstance(error, library.PasswordError):
        return {"failure": "password"}
    if isinstance(error, MemoryError) or not isinstance(
        error, Exception
    ):  # in a panic of the library, it can be either
        return {"failure": "memory"}
    what = str(error).splitlines()[0] if str(error) else type(error).__name__
    return {"failure": "damaged", "what": what[:200]}


def main() -> None:
    """Print the sheets, the number of rows, each row that is not blank with its number, and that this was all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process ends this one

    def send(value: Any) -> None:
        sys.stdout.buffer.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    import python_calamine

    wanted, n_bytes, seconds = json.loads(sys.argv[1])
    limit_memory(n_bytes)
    limit_seconds(seconds)
    try:
        with open(0, "rb", closefd=False) as file:
            file.seek(0)
            names, name, rows = read_sheet(python_calamine, file, wanted)
    except BaseException as error:  # a panic of the library is no Exception
        send(describe_failure(python_calamine, error))
        return
    limit_seconds(0)  # what follows ends
    n_above = count_title_rows(rows)
    title = next((cell_to_text(cell) for row in rows[:n_above] for cell in row if is_filled(cell)), None)
    send({"sheets": names, "sheet": name, "n_rows": len(rows), "title": title})
    for number, row in enumerate(rows, 1):
        if number > n_above and any(is_filled(cell) for cell in row):
            send([number, [cell_to_text(cell) for cell in row]])
    send(None)


if __name__ == "__main__":
    main()

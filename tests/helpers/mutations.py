"""Mutations of files for the fuzzers: bytes, numbers of arrays, values of JSON; the same for the same generator."""

import io
import random
import zipfile
import zlib
from typing import Any

import numpy as np

#: Numbers at which lengths, indices and types overflow.
NUMBERS = [0, 1, -1, 2, 7, 8, 255, 2**15, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**63 - 1, -(2**63)]
TEXTS = [b"\0", b" ", b"\n", b"-", b".", b"e", b":", b"nan", b"inf", b"1e999", b"1_0", b"\xff", b"%", b"0x1"]
#: Values that JSON can hold in the place of another.
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1,
    2,
    1.5,
    -0.5,
    2**31,
    2**63,
    1e308,
    "",
    "x",
    "\ud800",
    "a\x1b[2J",
    [],
    {},
    [[]],
]


def mutate_bytes(content: bytes, rng: random.Random) -> bytes:
    """Return content with a few bytes replaced, inserted, repeated or cut off."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(changed) + 1), rng.choice((0, 1, 1, 2, 4, 8))
        new = rng.choice(
            [
                rng.choice(TEXTS),
                b"%d" % rng.choice(NUMBERS),
                rng.randbytes(rng.randint(1, 8)),
                (rng.choice(NUMBERS) % 2**32).to_bytes(4, rng.choice(("little", "big"))),
                bytes(changed[at : at + 20]) * rng.randint(0, 3),
            ]
        )
        changed[at : at + rng.choice((length, len(new)))] = new
    return bytes(changed[: rng.randrange(len(changed) + 1)] if rng.random() < 0.1 else changed)


def mutate_npz(content: bytes, rng: random.Random) -> bytes:
    """Return an archive with some numbers of its arrays, or bytes of a header, changed: its checksums are right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in rng.sample(sorted(members), rng.randint(1, 2)):
        if rng.random() < 0.3:
            members[name] = mutate_bytes(members[name], rng)
            continue
        array = np.load(io.BytesIO(members[name]), allow_pickle=False).copy()
        if array.dtype.kind in "if" and array.size:
            info = np.iinfo(array.dtype) if array.dtype.kind == "i" else np.finfo(array.dtype)
            value = rng.choice([*NUMBERS, np.inf, np.nan] if array.dtype.kind == "f" else NUMBERS)
            array.flat[rng.randrange(array.size)] = value if value != value else min(max(value, info.min), info.max)
            if rng.random() < 0.2:
                array = array[: rng.randrange(len(array))]
        stream = io.BytesIO()
        np.save(stream, array)
        members[name] = stream.getvalue()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in members.items():
            archive.writestr(name, part)
    return stream.getvalue()


def mutate_mat(content: bytes, rng: random.Random) -> bytes:
    """Return a MATLAB file whose first deflated element is changed inside: its checksum is right."""
    if content[128] != 15:
        return mutate_bytes(content, rng)
    length = int.from_bytes(content[132:136], "little")
    packed = zlib.compress(mutate_bytes(zlib.decompress(content[136 : 136 + length]), rng))
    return content[:132] + len(packed).to_bytes(4, "little") + packed + content[136 + length :]


def mutate_array(values: Any, rng: random.Random) -> Any:
    """Return an array with one number, its length, shape or type changed."""
    kind = rng.choice(("number", "number", "number", "length", "shape", "type", "swap"))
    values = values.copy()
    if kind == "length" or not values.size:
        return values[: rng.randrange(len(values) + 1)] if values.ndim else values
    if kind == "shape":
        return values.reshape(rng.choice([(-1,), (1, -1), (-1, 1), values.shape[::-1]]))
    if kind == "type":
        with np.errstate(all="ignore"):
            return values.astype(rng.choice(["<f4", "<f8", "<i8", "<i4", "u1", "?"]))
    if kind == "swap":
        return np.ascontiguousarray(values[::-1])
    old = values.flat[at] if (at := rng.randrange(values.size)) is not None else 0
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):  # of float16 and float32
            values.flat[at] = rng.choice([*NUMBERS, np.inf, -np.inf, np.nan, 1e308, 1e-308, 0.5, -0.5, old * 2, -old])
    else:
        info = np.iinfo(values.dtype) if values.dtype.kind in "iu" else np.iinfo(np.uint8)
        values.flat[at] = min(max(rng.choice([*NUMBERS, int(old) + 1, int(old) - 1]), info.min), info.max)
    return values


def mutate_json(value: Any, rng: random.Random) -> Any:
    """Return a JSON value with one part of it, at any depth, replaced, removed, repeated or moved."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(sorted(value))
        if rng.random() < 0.1:
            return {key: part for key, part in value.items() if key != name}
        return value | {name: mutate_json(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at, kind = rng.randrange(len(value)), rng.random()
        if kind < 0.1:
            return value[:at] + value[at + 1 :]
        if kind < 0.2:
            return [*value[: at + 1], value[at], *value[at + 1 :]]
        return [*value[:at], mutate_json(value[at], rng), *value[at + 1 :]]
    if isinstance(value, int | float) and rng.random() < 0.5:
        return value + rng.choice([1, -1, 0.5, 10**6])
    if isinstance(value, str) and value and rng.random() < 0.5:
        return value[: rng.randrange(len(value))] + rng.choice(["", "\x00", "é", value])
    return rng.choice(VALUES)

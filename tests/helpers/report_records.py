"""Records for the tests of the report: plain, hostile and odd ones, and one of the maximum size."""

import numpy as np

from anchorless._report.effects_section import EffectCurve, EffectsSection, EffectTarget
from anchorless._report.html import DocumentRecord, LabelTable, PeriodTable, QualityNote, ReportData, ReportTopic

#: Texts that try to become markup, a script, a placeholder, or the end of the data block.
HOSTILE = [
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 1</script>",
    "<!--<script>",
    "]]><img src=x onerror='window.pwned = 1'>",
    '" onmouseover="window.pwned = 1" x="',
    "<svg onload=window.pwned=1><style>*{display:none}</style>",
    "{{script}} {{data}} {{title}}",
    "javascript:window.pwned=1",
    "&lt;b&gt; &amp; \\u003c \\",
    "line\u2028and\u2029paragraph",
    "</title></style></noscript><iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "${window.pwned=1} `${window.pwned=1}`",
    "https://example.org/<base href=//example.org>",
]
ODD_TEXTS = [
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "שלום עולם",
    "مرحبا بالعالم",
    "W" * 3000,
    "\u202eevil",
    "漢字かな",
    "e\u0301a\u0300",
    "\ud800half",
    "a\x00b\x07c",
]

ASSOCIATION = [
    [1.0, 0.6, -0.4, 0.0],
    [0.6, 1.0, -0.2, 0.1],
    [-0.4, -0.2, 1.0, 0.3],
    [0.0, 0.1, 0.3, 1.0],
]
WORDS = [["ship", "sea", "harbour"], ["sail", "wind", "sea"], ["court", "judge", "law"], ["Café", "coffee", "bean"]]
LABELS = ["ship, sea", "sail, wind", "court, judge", "café, coffee"]
TEXTS = [
    "The ship left the harbour.",
    "A sail in the wind, and the sea.",
    "The judge spoke in court.",
    "They met in a CAFE for coffee.",
    "Sea law: the court and the ship.",
]
MIXTURES = [[(0, 0.9), (1, 0.1)], [(1, 0.8), (0, 0.2)], [(2, 1.0)], [(3, 0.97), (2, 0.03)], [(2, 0.6), (0, 0.4)]]
SHARES = [0.3, 0.2, 0.4, 0.1]
PLACES = [[0.1, 0.2], [0.3, 0.8], [0.7, 0.1], [0.6, 0.5], [0.95, 0.9]]


def plain() -> ReportData:
    """Return a record with all parts: topic 3 (position 2) is the largest."""
    topics = [
        ReportTopic(
            f + 1, LABELS[f], SHARES[f], words(WORDS[f]), 0.1 * f, 0.5, [d for d in range(5) if MIXTURES[d][0][0] == f]
        )
        for f in range(4)
    ]
    documents = [DocumentRecord(f"doc-{d}", TEXTS[d], MIXTURES[d], 0.5, "ab"[d % 2], f"200{d}") for d in range(5)]
    prevalence = PeriodTable(
        ["2000", "2001", "2002"], [[0.3, 0.2, 0.4], [0.2, 0.3, 0.1], [0.4, 0.4, 0.3], [0.1, 0.1, 0.2]], [1, 1, 1]
    )
    labels = LabelTable(["a", "b"], [[0.5, 0.1, 0.3, 0.1], [0.1, 0.4, 0.2, 0.3]], [3, 2])
    return ReportData(
        "Ships & courts",
        "Five documents",
        topics,
        ASSOCIATION,
        documents,
        5,
        prevalence,
        labels,
        [("Fit", "It went well.")],
        effects=effects(),
        places=PLACES,
        quality=[QualityNote("near-copies", 2, 0.4, "Set deduplicate.", [TEXTS[0], TEXTS[4]])],
    )


def effects() -> EffectsSection:
    """Return effects on every topic; the first difference is significant for topics 1 and 2, and so is the curve."""
    first = [(4.0, 2.5, 5.5, 0.001), (-6.0, -8.0, -4.0, 0.0004), (1.0, -1.0, 3.0, 0.4), (0.5, -0.5, 1.5, 1.0)]
    second = [(0.5, -1.0, 2.0, 0.6), (1.5, -0.5, 3.5, 0.2), (-2.0, -3.5, -0.5, 0.04), (0.0, -1.0, 1.0, 1.0)]
    shares = [[(0.1 * (f + 1), 0.1 * f + 0.05, 0.1 * f + 0.2), (0.2, 0.1, 0.3), (0.05, 0.0, 0.1)] for f in range(4)]
    return EffectsSection(
        formula="~ party + age + s(day)",
        level=0.9,
        sentences=["Estimated is the mean share.", "5 documents."],
        targets=[EffectTarget(str(f + 1), LABELS[f], [f]) for f in range(4)],
        comparisons=["party: B − A", "age: 60 − 30"],
        points=[*zip(first, second, strict=True)],
        curves=[
            EffectCurve("day", ["2008-01-01", "2008-06-01", "2008-12-31"], [0, 152, 365], shares, [0.01, 0.2, 1, 1])
        ],
    )


def words(names: list[str]) -> list[tuple[str, float, float, float]]:
    """Return words of decreasing relevance; the second is the most probable one, the last the most distinctive."""
    return [(name, 0.3 / (1 + abs(i - 1)), 0.2 / (i + 1), 0.2 + 0.3 * i) for i, name in enumerate(names)]


def with_texts(texts: list[str]) -> ReportData:
    """Return a record of the shape of `plain` in which every text is from the list."""
    data, n = plain(), len(texts)
    text = lambda i: texts[i % n]  # noqa: E731
    documents = [
        DocumentRecord(text(d), text(d), [(d % 4, 0.7), ((d + 1) % 4, 0.3)], 0.5, text(d + 1), text(d + 2))
        for d in range(n)
    ]
    topics = [
        topic._replace(label=text(f), words=words([text(f + i) for i in range(n)]), documents=list(range(n)))
        for f, topic in enumerate(data.topics)
    ]
    return data._replace(
        title=text(0),
        subtitle=text(1),
        topics=topics,
        documents=documents,
        n_documents=n,
        prevalence=data.prevalence._replace(periods=[text(0), text(1), text(2)]),
        labels=data.labels._replace(names=[text(3), text(4)]),
        diagnostics=[(text(i), text(i + 1)) for i in range(n)],
        places=[[i / n, (5 * i % n) / n] for i in range(n)],
        quality=[QualityNote(text(i), i, 0.5, text(i + 1), [text(i + 2)]) for i in range(n)],
        effects=data.effects._replace(
            formula=text(5),
            sentences=[text(6), text(7)],
            targets=[target._replace(name=text(i), label=text(i + 1)) for i, target in enumerate(data.effects.targets)],
            comparisons=[text(2), text(3)],
            curves=[data.effects.curves[0]._replace(column=text(4), values=[text(0), text(1), text(2)])],
        ),
    )


def one_topic() -> ReportData:
    """Return one topic without words, measures or documents."""
    nan = float("nan")
    return ReportData(
        "", "", [ReportTopic(0, "", nan, [], nan, nan, [])], [[nan]], [], 0, PeriodTable([], [[]], []), None, []
    )


def unknown_measures() -> ReportData:
    """Return a record in which no measure is a finite number."""
    nan, data = float("nan"), plain()
    topics = [
        topic._replace(share=nan, coherence=-np.inf, exclusivity=nan, words=[("w", nan, -np.inf, np.inf)])
        for topic in data.topics
    ]
    return data._replace(
        topics=topics,
        association=[[nan] * 4] * 4,
        documents=[d._replace(topics=[(0, nan)]) for d in data.documents],
        prevalence=data.prevalence._replace(values=[[nan] * 3] * 4),
        labels=data.labels._replace(values=[[nan] * 4] * 2),
        effects=data.effects._replace(
            points=[[(nan,) * 4] * 2] * 4,
            curves=[data.effects.curves[0]._replace(shares=[[(nan,) * 3] * 3] * 4, p=[nan] * 4)],
        ),
    )


def large(n_topics: int = 50, n_documents: int = 10_000, text: str = "word") -> ReportData:
    """Return a record of the maximum size; snippets are 600 characters of the repeated text."""
    rng = np.random.default_rng(0)
    W = rng.dirichlet(np.full(n_topics, 0.05), n_documents)
    documents = [
        DocumentRecord(
            f"collection/part-{d % 17}/document-{d:06}.txt",
            (f"{d} " + f"{text} " * 600)[:600],
            [(int(f), float(W[d, f])) for f in np.argsort(-W[d])[:5]],
            0.5,
            f"label {d % 20}",
            "2004-03-01",
        )
        for d in range(n_documents)
    ]
    topics = [
        ReportTopic(
            f,
            f"w{f}, v{f}",
            float(W[:, f].mean()),
            words([f"w{f}x{i}" for i in range(30)]),
            0.1,
            0.5,
            np.argsort(-W[:, f])[:10].tolist(),
        )
        for f in range(n_topics)
    ]
    periods = [str(1990 + i) for i in range(30)]
    prevalence = PeriodTable(periods, rng.random((n_topics, 30)).tolist(), [n_documents // 30] * 30)
    labels = LabelTable(
        [f"label {i}" for i in range(20)], rng.random((20, n_topics)).tolist(), [n_documents // 20] * 20
    )
    return ReportData(
        "Large",
        "",
        topics,
        np.corrcoef(W.T).tolist(),
        documents,
        n_documents,
        prevalence,
        labels,
        places=rng.random((n_documents, 2)).tolist(),
    )

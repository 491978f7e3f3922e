"""Texts whose topics are known, for tests that begin with text."""

import numpy as np

SPACE = "orbit rocket moon shuttle nasa launch satellite planet telescope mars crew module"
FOOD = "bread flour butter oven dough sugar recipe kitchen salt pepper soup cheese"
LAW = "court judge lawyer trial jury verdict appeal statute crime prison evidence witness"
SPORT = "goal match team player coach league season score referee stadium fans trophy"
THEMES = {"space": SPACE.split(), "food": FOOD.split(), "law": LAW.split(), "sport": SPORT.split()}
COMMON = ["today", "people", "year", "place", "report", "week"]


def planted_texts(n_documents=160, seed=0, length=25):
    """Return texts and the theme of each; one document in eight mixes two themes."""
    rng = np.random.default_rng(seed)
    names = list(THEMES)
    odds = 1.0 / np.arange(1, 13)
    texts, labels = [], []
    for i in range(n_documents):
        main, other = rng.permutation(len(names))[:2]
        share = 0.5 if i % 8 == 0 else 1.0
        words = []
        for _ in range(length):
            theme = THEMES[names[main if rng.random() < share else other]]
            words.append(rng.choice(COMMON) if rng.random() < 0.2 else theme[rng.choice(12, p=odds / odds.sum())])
        texts.append(" ".join(words).capitalize() + ".")
        labels.append(names[main])
    return texts, labels

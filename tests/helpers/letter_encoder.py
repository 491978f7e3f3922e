"""An encoder of texts without a model."""

import numpy as np


class LetterEncoder:
    """An encoder without a model: how often letters occur."""

    encoded = 0
    fail_after = None
    fingerprint = "letters"

    def __init__(self, name):
        pass

    def encode(self, texts):
        if self.fail_after is not None and LetterEncoder.encoded >= self.fail_after:
            raise KeyboardInterrupt
        LetterEncoder.encoded += len(texts)
        counts = np.array([[1 + text.count(letter) for letter in "abcdefghijklmnop"] for text in texts], dtype=float)
        return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float16)

"""What was found out about the uniqueness of topics, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from anchorless._diagnostics.identifiability.anchor_words import MIN_DOCUMENTS_PER_WORD
from anchorless._diagnostics.identifiability.identifiability import Identifiability
from anchorless._diagnostics.identifiability.scattering import PROVED, REFUTED
from anchorless._diagnostics.identifiability.uniqueness import ANOTHER, UNIQUE, TopicChange

#: A second solution that moves less than this share of every topic is the same for all purposes.
NEGLIGIBLE_CHANGE = 0.01
#: A word that belongs to a topic by this share is nearly an anchor word.
NEAR_ANCHOR_SHARE = 0.95
#: A relative gap between eigenvalues below this makes the last topic uncertain.
SMALL_EIGENGAP = 0.02

Sentence = tuple[str, str]


def describe_identifiability(
    found: Identifiability, labels: Sequence[str], vocabulary: Sequence[str]
) -> list[Sentence]:
    """Return headings and sentences, the verdict first."""
    if found.n_topics == 1:
        return [("Are these the only topics?", "One topic: there is nothing to tell apart.")]
    names = [f"{f} ({label})" for f, label in enumerate(labels)]
    return [
        ("Are these the only topics?", describe_uniqueness(found, names, vocabulary)),
        ("Sufficiently scattered words", describe_condition(found)),
        ("Anchor words", describe_anchors(found, names, vocabulary)),
        ("Noise", describe_noise(found)),
        ("Topics that are hard to tell apart", describe_close_pairs(found, names)),
    ]


def describe_uniqueness(found: Identifiability, names: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Say whether there is another solution."""
    unique = found.uniqueness
    if unique.verdict == UNIQUE:
        return (
            "Yes, for the topics as they were fitted: by the theorem, no other topics give the same co-occurrences "
            "with as large a volume."
        )
    if unique.verdict == ANOTHER and unique.second is not None:
        largest = unique.second.trades[0] if unique.second.trades else None
        if largest is None:
            return "The topics' words are, but their correlations are not: the topics are linearly dependent."
        if largest.change < NEGLIGIBLE_CHANGE:
            return (
                "Nearly. Other topics give the same co-occurrences with no smaller volume, but they are the same for "
                f"all purposes: no topic changes by more than {largest.change:.2%} of its probability."
            )
        return (
            "No. Other topics give the same co-occurrences with no smaller volume. Most different is "
            f"{describe_trade(largest, names, vocabulary)}."
        )
    return (
        f"Not known. No other solution was found from {unique.n_starts} starts, which is no proof that there is none."
    )


def describe_trade(trade: TopicChange, names: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Say how a topic would change."""
    text = f"topic {names[trade.topic]}, by {trade.change:.1%} of its probability"
    parts = [f"{'adds' if part > 0 else 'sheds'} {abs(part):.0%} of {names[g]}" for g, part in trade.parts]
    if parts:
        text += f": it {', '.join(parts)}"
    if trade.gained:
        text += f"; more of {', '.join(vocabulary[v] for v in trade.gained)}"
    if trade.lost:
        text += f"; less of {', '.join(vocabulary[v] for v in trade.lost)}"
    return text


def describe_condition(found: Identifiability) -> str:
    """Say whether the condition of the theorem holds, for all words and for those that are known well."""
    parts = [f"For the topics as they are, the condition is {verdict(found.scattering.verdict, found)}"]
    reason = found.scattering.reason
    if found.scattering.verdict in (PROVED, REFUTED):
        parts[0] += f": {reason}"
    if found.n_known_words < found.n_words:
        parts.append(
            f"For the {found.n_known_words:,} of {found.n_words:,} words that are in enough documents "
            f"({MIN_DOCUMENTS_PER_WORD}, fewer if too few words are), it is {found.known.verdict}"
        )
        if found.known.norm is not None:
            parts[-1] += f", by a point that is {found.known.norm - 1.0:.1e} longer than the limit of 1"
    if found.time_is_up:
        parts.append("The time limit cut the search short")
    return ". ".join(parts) + "."


def verdict(text: str, found: Identifiability) -> str:
    """Return a verdict, never more than was shown."""
    return text if text in (PROVED, REFUTED) else f"neither proved nor refuted in {found.scattering.n_starts} starts"


def describe_anchors(found: Identifiability, names: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Say how near the topics come to having anchor words."""
    best = [(anchors.candidates[0], anchors.topic) for anchors in found.anchors if anchors.candidates]
    near = sum(candidate.share >= NEAR_ANCHOR_SHARE for candidate, _ in best)
    worst, topic = min(best, key=lambda pair: pair[0].share)
    text = f"{near} of {found.n_topics} topics have a word that belongs to them by at least {NEAR_ANCHOR_SHARE:.0%}."
    if near < found.n_topics:
        text += (
            f" Furthest from it is topic {names[topic]}: its nearest, {vocabulary[worst.word]}, belongs to it by "
            f"{worst.share:.0%}."
        )
    return text


def describe_noise(found: Identifiability) -> str:
    """Say what noise could change."""
    parts = []
    which = "on the words in enough documents, " if found.n_known_words < found.n_words else ""
    if found.survival.level is None:
        parts.append("Whether errors would change the verdict was not found out")
    elif found.survival.level == 0.0:
        parts.append(f"The verdict ({which}{found.survival.verdict}) does not survive the smallest errors tried")
    else:
        size = f"{found.survival.level:g} standard errors"
        if found.survival.unit == "relative":
            size = f"{found.survival.level:.0%} of each probability"
        parts.append(f"The verdict ({which}{found.survival.verdict}) stays under random errors of {size}")
    if found.eigengap is not None:
        small = "; the last topic is uncertain" if found.eigengap < SMALL_EIGENGAP else ""
        parts.append(f"The last eigenvalue kept is {found.eigengap:.1%} above the first left out{small}")
    if found.clipped_mass is not None:
        parts.append(f"At most {max(found.clipped_mass):.1%} of a topic was negative and cut off")
    return ". ".join(parts) + "."


def describe_close_pairs(found: Identifiability, names: Sequence[str]) -> str:
    """Name the topics that are nearly the same."""
    if not found.close_pairs:
        return "None."
    shown = [f"{names[p.first]} and {names[p.second]}: {p.reason}" for p in found.close_pairs[:5]]
    more = f"; and {len(found.close_pairs) - 5} more pairs" if len(found.close_pairs) > 5 else ""
    return "; ".join(shown) + more + "."

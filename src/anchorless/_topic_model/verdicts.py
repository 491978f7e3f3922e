"""Describe the identifiability of topics in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from anchorless._diagnostics.identifiability.anchor_words import MIN_DOCUMENTS_PER_WORD
from anchorless._diagnostics.identifiability.identifiability import Identifiability
from anchorless._diagnostics.identifiability.scattering import (
    MAX_SEARCHED_TOPICS,
    PROVED,
    REFUTED,
    Scattering,
)
from anchorless._diagnostics.identifiability.uniqueness import (
    ANOTHER,
    NEARLY_UNIQUE,
    NOT_SUPPORTED,
    SMALL_LEEWAY,
    UNIQUE,
    TopicChange,
)

NEGLIGIBLE_CHANGE = 0.01  # a smaller share of a topic's probability on other words is the same topic in practice
NEAR_ANCHOR_SHARE = 0.95  # share of a word's occurrences in one topic from which it is nearly an anchor word
SMALL_EIGENGAP = 0.02  # relative gap below which the last topic is uncertain
MIN_NEGATIVE_MASS = 0.005  # a smaller one is rounded to zero, and not mentioned
MAX_NAMED_PAIRS = 5

DEPENDENT = "Their words are, but their correlations are not determined: the topics are linearly dependent."

Sentence = tuple[str, str]  # heading, text


#: What the first part of a report on identifiability is called.
UNIQUENESS_HEADING = "Are these the only topics?"


def describe_identifiability(
    found: Identifiability, labels: Sequence[str], vocabulary: Sequence[str]
) -> list[Sentence]:
    """Return headings and texts, the verdict on uniqueness first."""
    if found.n_topics == 1:
        return [(UNIQUENESS_HEADING, "There is one topic, so no two topics can be confused.")]
    names = [f"{f} ({label})" for f, label in enumerate(labels)]
    verdicts = [
        (UNIQUENESS_HEADING, describe_uniqueness(found, names, vocabulary)),
        ("Sufficiently scattered words", describe_condition(found)),
    ]
    if found.uniqueness.verdict == NOT_SUPPORTED:  # anchor words and differences of chance topics are chance, too
        return [*verdicts, ("Noise", describe_noise(found, names))]
    return [
        *verdicts,
        ("Anchor words", describe_anchors(found, names, vocabulary)),
        ("Noise", describe_noise(found, names)),
        ("Topics that are hard to tell apart", describe_close_pairs(found, names)),
    ]


def describe_uniqueness(found: Identifiability, names: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Say whether other topics would be as good a solution."""
    if found.uniqueness.verdict == NOT_SUPPORTED:
        return describe_missing_support(found)
    if found.leeway is not None:
        return describe_comparison(found, describe_leeway(found, names, vocabulary))
    return describe_exact_uniqueness(found, names, vocabulary)


def describe_missing_support(found: Identifiability) -> str:
    """Say that chance explains the topics, and which number of topics it does not explain."""
    n_supported = 0 if found.shuffled is None else found.shuffled.n_supported
    chance = "The same text with its words in random order, where there are no topics, gives"
    if n_supported < 2:
        nothing = f"{chance} patterns of words that are about as strong as those of these topics"
        return f"Not supported: these topics may be chance. {nothing}. Add documents, or do not use the topics."
    fewer = f"Fit at most {n_supported} topics, or add documents"
    weak = f"{chance} patterns of words that are about as strong as the weakest on which these topics are based"
    return f"Not supported: at least {found.n_topics - n_supported} of these topics may be chance. {weak}. {fewer}."


def describe_leeway(found: Identifiability, names: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Say how far topics of documents could differ, given the errors of their probabilities."""
    unique, leeway = found.uniqueness, max(found.leeway or [0.0])
    moved = f"{format_most(leeway, 1)} of the probability of any topic could lie on other words"
    errors = "if every small probability is as wrong as the number of documents allows"
    if unique.verdict == UNIQUE:
        proof = "The words that are known well enough allow no other topics"
        return f"Yes, as far as these documents can tell. {proof}; {errors}, {moved}."
    if unique.verdict == NEARLY_UNIQUE:
        return f"Nearly, as far as these documents can tell: {errors}, {moved}."
    if unique.second is None:
        return f"Unknown: {describe_search(found)}, but that is not a proof that there are no others."
    if not unique.second.trades:
        return DEPENDENT
    change = describe_change(unique.second.trades[0], names, vocabulary)
    return f"No: {errors}, other topics fit these documents as well. The largest change is in {change}."


def describe_comparison(found: Identifiability, answer: str) -> str:
    """Add that the topics were compared with chance; if they were not, a good answer holds only under a condition."""
    if found.shuffled is not None:
        strong = f"{found.shuffled.strength[-1]:.1f} times the strength that chance could give them"
        return f"{answer} The patterns of words on which the topics are based have at least {strong}."
    if found.uniqueness.verdict not in (UNIQUE, NEARLY_UNIQUE):
        return answer
    unknown = "Unknown: the model lacks what is needed to check whether the topics are chance; fit it again"
    return f"{unknown}. If they are not: {answer[0].lower()}{answer[1:]}"


def describe_search(found: Identifiability) -> str:
    """Say how far the search for other topics went."""
    if found.n_topics > MAX_SEARCHED_TOPICS:
        tried = f"as much of other topics was subtracted from {found.uniqueness.n_starts} of {found.n_topics} topics as"
        limit = NEGLIGIBLE_CHANGE if found.leeway is None else SMALL_LEEWAY
        return f"{tried} leaves no probability below zero, and none of them changed by {limit:.0%} or more"
    return f"a search from {found.uniqueness.n_starts} starting points found no other topics"


def describe_exact_uniqueness(found: Identifiability, names: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Say whether other topics would be as good a solution as topics that are given without errors."""
    unique = found.uniqueness
    if unique.verdict == UNIQUE:
        return (
            "Yes, for the fitted numbers: it is proved that no other topics give exactly the same word co-occurrences "
            "and are as different from each other. Noise in these numbers is a separate question."
        )
    if unique.verdict == ANOTHER and unique.second is not None:
        largest = unique.second.trades[0] if unique.second.trades else None
        if largest is None:
            return DEPENDENT
        other = "other topics give exactly the same word co-occurrences and are at least as different from each other"
        if largest.change < NEGLIGIBLE_CHANGE and found.n_topics <= MAX_SEARCHED_TOPICS:
            most = f"{format_most(largest.change, 2)} of the probability of any topic lies on other words"
            return f"Practically. Strictly, {other}, but the difference is negligible: {most}."
        if largest.change >= NEGLIGIBLE_CHANGE:
            return f"No: {other}. The largest change is in {describe_change(largest, names, vocabulary)}."
    return f"Unknown: {describe_search(found)}, but that is not a proof that there are no others."


def format_most(share: float, digits: int) -> str:
    """Return "at most 2.3%", or "less than 0.1%" where rounding would leave nothing."""
    least = 0.1**digits / 100
    return f"at most {share:.{digits}%}" if share >= least else f"less than {least:.{digits}%}"


def describe_change(change: TopicChange, names: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Say how a topic differs in the second solution."""
    text = f"topic {names[change.topic]}, where {change.change:.1%} of the probability lies on other words"
    parts = [f"{'plus' if part > 0 else 'minus'} {abs(part):.0%} of {names[g]}" for g, part in change.parts]
    if parts:
        text += f" (the topic {', '.join(parts)})"
    for verb, words in (("gain", change.gained), ("lose", change.lost)):
        if words:
            text += f"; words that {verb}: {', '.join(vocabulary[v] for v in words)}"
    return text


def describe_condition(found: Identifiability) -> str:
    """Say whether the condition of the theorem holds, for the words with enough evidence; the rest are details."""
    decisive = found.scattering if found.leeway is None else found.known
    which = "the fitted topics"
    if found.leeway is not None:
        which = f"the {found.n_known_words:,} of {found.n_words:,} words that occur in enough documents"
    parts = [
        "The uniqueness theorem requires that the words are sufficiently scattered over the topics",
        f"For {which}, this is {format_verdict(decisive)}",
    ]
    if found.leeway is None:
        parts[-1] += describe_reason(found)
    if found.uniqueness.verdict == NOT_SUPPORTED:
        parts[-1] += ", but of topics that may be chance that says little"
    if decisive.verdict == REFUTED:
        parts.append("The condition is sufficient, but not necessary: topics can be unique without it")
    if found.time_is_up:
        parts.append("The time limit ended the search early")
    if found.leeway is not None:
        parts.append(f"Details: {describe_fitted_condition(found)}")
    return ". ".join(parts) + "."


def describe_fitted_condition(found: Identifiability) -> str:
    """Say which words have enough evidence, how far they are from the limit, and what holds for all words as fitted."""
    known = (
        f"these words are in at least {MIN_DOCUMENTS_PER_WORD} documents (or fewer if too few words are), with zeros "
    )
    known += f"only where the documents can tell them from a small probability{describe_margin(found.known)}"
    return f"{known}; for all words as fitted, it is {format_verdict(found.scattering)}{describe_reason(found)}"


def describe_reason(found: Identifiability) -> str:
    """Return why the condition is proved or refuted for the fitted topics, and whether that says little."""
    reason = f" ({found.scattering.reason})" if found.scattering.verdict in (PROVED, REFUTED) else ""
    if found.scattering.verdict == PROVED and found.shuffled is not None and found.shuffled.scattering == PROVED:
        return f"{reason}, but so it is for topics of the same text with its words in random order: it says little"
    return reason


def describe_margin(scattering: Scattering) -> str:
    """Say how far the condition is from its limit."""
    if scattering.margin is None:
        return ""
    if scattering.verdict == REFUTED:
        return f"; the counterexample exceeds the limit of 1 by {-scattering.margin:.2g}"
    return f", with a margin of at least {scattering.margin:.2g} (from 0 at the limit to 1 with anchor words)"


def format_verdict(scattering: Scattering) -> str:
    """Return a verdict that claims no more than was shown."""
    if scattering.verdict in (PROVED, REFUTED):
        return scattering.verdict
    if len(scattering.stretch) > MAX_SEARCHED_TOPICS:
        return f"neither proved nor refuted (by subtracting others from {scattering.n_starts} topics)"
    return f"neither proved nor refuted (by a search from {scattering.n_starts} starting points)"


def describe_anchors(found: Identifiability, names: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Say how close the topics come to having anchor words."""
    best = [(anchors.candidates[0], anchors.topic) for anchors in found.anchors if anchors.candidates]
    n_near = sum(candidate.share >= NEAR_ANCHOR_SHARE for candidate, _ in best)
    worst, topic = min(best, key=lambda pair: pair[0].share)
    have = "has" if n_near == 1 else "have"
    text = f"An anchor word occurs in one topic only. {n_near} of {found.n_topics} topics {have} a word with at least "
    text += f"{NEAR_ANCHOR_SHARE:.0%} of its occurrences in the topic."
    if n_near < found.n_topics:
        text += f" The lowest value is {worst.share:.0%}, for {vocabulary[worst.word]} in topic {names[topic]}."
    return text


def describe_noise(found: Identifiability, names: Sequence[str]) -> str:
    """Say how noise could affect the verdict and the topics."""
    parts, robustness = [], found.survival
    which = "" if found.leeway is None else ", for words and zeros with enough evidence,"
    verdict = f"The verdict on scattered words ({robustness.verdict}){which}"
    if robustness.level is None:
        parts.append("It was not determined whether random errors would change the verdict on scattered words")
    elif robustness.level == 0.0:
        parts.append(f"{verdict} changes under the smallest random errors that were tried")
    else:
        relative = robustness.unit == "relative"
        size = (
            f"{robustness.level:.0%}"
            if relative
            else f"{robustness.level:g} standard error{'s' * (robustness.level != 1)}"
        )
        parts.append(f"{verdict} does not change if every probability has a random error of {size}")
    if found.eigengap is not None:
        effect = ", so the last topic is uncertain" if found.eigengap < SMALL_EIGENGAP else ""
        weaker = f"is {found.eigengap:.1%} weaker than the last one that was used{effect}"
        parts.append(f"The first co-occurrence pattern that was left out {weaker}")
    if found.clipped_mass is not None and max(found.clipped_mass) >= MIN_NEGATIVE_MASS:
        mass, name = max(zip(found.clipped_mass, names, strict=True), key=itemgetter(0))
        sums = f"−{mass:.2f}, where the positive ones summed to {1 + mass:.2f}"
        parts.append("Fitted probabilities below zero, which noise or a poor fit can cause, were set to zero")
        parts.append(f"Their sum was largest in topic {name}: {sums}")
    return ". ".join(parts) + "."


def describe_close_pairs(found: Identifiability, names: Sequence[str]) -> str:
    """Name the pairs of topics that are nearly the same."""
    if not found.close_pairs:
        return "None."
    pairs = [f"{names[p.first]} and {names[p.second]}: {p.reason}" for p in found.close_pairs[:MAX_NAMED_PAIRS]]
    n_more = len(found.close_pairs) - len(pairs)
    return "; ".join(pairs) + (f"; and {n_more} more pairs" if n_more else "") + "."

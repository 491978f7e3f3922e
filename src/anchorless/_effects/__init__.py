"""Effects of metadata on topics: regressions of the topics' proportions, with intervals."""

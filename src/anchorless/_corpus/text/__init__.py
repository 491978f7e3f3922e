"""From text to terms: tokens, stop words, mail and markup."""

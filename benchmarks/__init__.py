"""Speed side by side with peers, on the public interface only; not part of the wheel."""

"""Parameters in the reference as docstrings have them: griffe repeats those of one line, with the first default."""

from typing import Any

import griffe


class SharedLines(griffe.Extension):
    """Keep parameters together that share a line, and take defaults from the signature."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Correct the docstrings of a package."""
        self.correct_members(pkg)

    def correct_members(self, owner: Any) -> None:
        """Correct the docstrings of classes and functions, and of their members."""
        for member in owner.members.values():
            if member.is_alias or member.is_attribute:
                continue
            if not member.is_module and member.docstring is not None:
                correct_parameters(member)
            if not member.is_function:
                self.correct_members(member)


def correct_parameters(member: Any) -> None:
    """Correct the parameters that the docstring of a class or function lists."""
    signature = {parameter.name: parameter for parameter in member.parameters}
    annotations = {id(parameter.annotation) for parameter in signature.values()}
    for section in member.docstring.parsed:
        if section.kind is griffe.DocstringSectionKind.parameters:
            for parameter in section.value:
                if parameter.name in signature:
                    parameter.value = signature[parameter.name].default
                if id(parameter.annotation) in annotations:
                    parameter.annotation = None
            section.value = join_shared_lines(section.value)


def join_shared_lines(parameters: list[Any]) -> list[Any]:
    """Return the parameters with those that share a description as one entry, without a default."""
    joined: list[Any] = []
    for parameter in parameters:
        if joined and parameter.description and parameter.description == joined[-1].description:
            joined[-1].name += f", {parameter.name}"
            joined[-1].value = None
        else:
            joined.append(parameter)
    return joined

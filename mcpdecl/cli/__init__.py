"""The command line: one file a command, imported only when it is used.

Knows: which commands there are. Does not know: what they do.
"""

from __future__ import annotations

import importlib

import click

import mcpdecl

COMMANDS = ("check", "serve")


class Commands(click.Group):
    """A group that imports a command when it is called for, so that starting stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name: the function of that name in the module of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"mcpdecl.cli.{cmd_name}"), cmd_name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(mcpdecl.__version__, prog_name="mcpdecl")
def main() -> None:
    """Write YAML, get a Model Context Protocol server."""

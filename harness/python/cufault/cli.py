# SPDX-License-Identifier: Apache-2.0
"""The command line. Errors become exit statuses here and nowhere else."""

from __future__ import annotations

import sys
import traceback

import click

from cufault import __version__
from cufault.commands import compare, doctor, exec_, report, run, schema, sweep, trace
from cufault.errors import EXIT_HARNESS, EXIT_USAGE, CufaultError

STATUSES = """\b
Exit status:
  0   everything held (findings on observed subjects included)
  1   violations
  2   the command line or a file it names is wrong
  3   not exercised, or inconclusive
  4   the harness itself failed
  97  (of a child) a plan that the shim refused
"""


@click.group(
    help=f"Makes CUDA driver calls fail on purpose and judges how the code above them copes.\n\n{STATUSES}",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="cufault %(version)s")
def cufault() -> None:
    """The group of all commands."""


for _command in (
    run.command,
    exec_.command,
    sweep.command,
    trace.command,
    report.command,
    compare.command,
    doctor.command,
    schema.command,
):
    cufault.add_command(_command)


def main() -> None:
    """Runs the command line and exits."""
    try:
        status = cufault.main(standalone_mode=False)
    except CufaultError as error:
        click.echo(f"cufault: {error}", err=True)
        status = error.exit_status
    except click.exceptions.Abort:
        click.echo("cufault: interrupted", err=True)
        status = 130
    except click.ClickException as error:
        error.show()
        status = EXIT_USAGE
    except BrokenPipeError:
        sys.stderr.close()
        status = EXIT_HARNESS
    except Exception:
        # A bug of ours: Python's own status 1 would read as violations.
        traceback.print_exc()
        click.echo("cufault: an error in cufault itself; please report it", err=True)
        status = EXIT_HARNESS
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()

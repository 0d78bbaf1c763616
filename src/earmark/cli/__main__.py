"""``python -m earmark.cli`` is ``earmark``."""

from earmark.cli.start import run

if __name__ == "__main__":
    run()

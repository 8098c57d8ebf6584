from .command import main

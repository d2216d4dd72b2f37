"""python -m ald"""

from ald.cli.main import main

main()

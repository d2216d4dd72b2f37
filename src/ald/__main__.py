"""python -m ald"""

from ald.cli import main

main()

from onset.cli import main

main()

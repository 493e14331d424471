"""The artifact DAG: what exists, what each artifact's recipe is, and where its files lie."""

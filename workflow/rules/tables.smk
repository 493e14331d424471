# Tables of parameters or results.
rule tables:
    input:
        FLOW.inputs(ancient),
    output:
        f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.csv",
    log:
        f"{LOGS}.log",
    benchmark:
        f"{LOGS}.benchmark.tsv"
    wildcard_constraints:
        name=FLOW.names("tables"),
    params:
        spec=FLOW.spec,
    shell:
        "{ONSET} tabulate {params.spec:q} --root {ROOT:q} --result {output:q} --log {log:q}"

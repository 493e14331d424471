# The claims of a figure, evaluated.
rule claims:
    input:
        FLOW.inputs(ancient),
    output:
        f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.json",
    params:
        spec=FLOW.spec,
    log:
        f"{LOGS}.log",
    benchmark:
        f"{LOGS}.benchmark.tsv"
    wildcard_constraints:
        name=FLOW.names("claims"),
    shell:
        "{ONSET} check {params.spec:q} --root {ROOT:q} --result {output:q} --log {log:q}"

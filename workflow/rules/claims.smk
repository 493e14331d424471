# The claims of a figure, evaluated.
rule claims:
    input:
        FLOW.inputs(ancient),
    output:
        f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.json",
    log:
        f"{LOGS}.log",
    benchmark:
        f"{LOGS}.benchmark.tsv"
    wildcard_constraints:
        name=FLOW.names("claims"),
    params:
        spec=FLOW.spec,
    shell:
        "{ONSET} check {params.spec:q} --root {ROOT:q} --result {output:q} --log {log:q}"

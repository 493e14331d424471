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


# The same, with the table of theory against experiment.
rule claims_with_theory:
    input:
        FLOW.inputs(ancient),
    output:
        result=f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.json",
        table=f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.csv",
    log:
        f"{LOGS}.log",
    benchmark:
        f"{LOGS}.benchmark.tsv"
    wildcard_constraints:
        name=FLOW.names("claims_with_theory"),
    params:
        spec=FLOW.spec,
    shell:
        "{ONSET} check {params.spec:q} --root {ROOT:q} --result {output.result:q}"
        " --theory {output.table:q} --log {log:q}"

# Figures, as PDF or PNG.
rule figures:
    input:
        FLOW.inputs(ancient),
    output:
        f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.{{extension}}",
    log:
        f"{LOGS}.{{extension}}.log",
    benchmark:
        f"{LOGS}.{{extension}}.benchmark.tsv"
    wildcard_constraints:
        name=FLOW.names("figures"),
    params:
        spec=FLOW.spec,
    shell:
        "{ONSET} draw {params.spec:q} --root {ROOT:q} --result {output:q} --log {log:q}"

# Figures, as PDF or PNG.
rule figures:
    input:
        FLOW.inputs(ancient),
    output:
        f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.{{extension}}",
    params:
        spec=FLOW.spec,
    log:
        f"{LOGS}.{{extension}}.log",
    benchmark:
        f"{LOGS}.{{extension}}.benchmark.tsv"
    wildcard_constraints:
        name=FLOW.names("figures"),
    shell:
        "{ONSET} draw {params.spec:q} --root {ROOT:q} --result {output:q} --log {log:q}"

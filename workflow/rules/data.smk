# Datasets.
rule data:
    input:
        FLOW.inputs(ancient),
    output:
        result=f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.nc",
    log:
        f"{LOGS}.log",
    benchmark:
        f"{LOGS}.benchmark.tsv"
    wildcard_constraints:
        name=FLOW.names("data"),
    threads: FLOW.resource("threads", 1)
    resources:
        mem_mb=FLOW.resource("memory_mb"),
    params:
        spec=FLOW.spec,
    shell:
        "{ONSET} data {params.spec:q} --root {ROOT:q} --result {output.result:q}"
        " --threads {threads} --device cpu --log {log:q}"

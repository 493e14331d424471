# Simulations of differential equations.
rule simulate:
    input:
        FLOW.inputs(ancient),
    output:
        result=f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.nc",
    params:
        spec=FLOW.spec,
    log:
        f"{LOGS}.log",
    benchmark:
        f"{LOGS}.benchmark.tsv"
    threads: FLOW.resource("threads", 1)
    resources:
        mem_mb=FLOW.resource("memory_mb"),
    wildcard_constraints:
        name=FLOW.names("simulate"),
    shell:
        "{ONSET} simulate {params.spec:q} --root {ROOT:q} --result {output.result:q}"
        " --threads {threads} --device cpu --log {log:q}"

# Posterior sampling: a Dataset of measurements and the last state of the chains.
rule sample:
    input:
        FLOW.inputs(ancient),
    output:
        result=f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.nc",
        checkpoint=f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.safetensors",
    log:
        f"{LOGS}.log",
    benchmark:
        f"{LOGS}.benchmark.tsv"
    wildcard_constraints:
        name=FLOW.names("sample"),
    threads: FLOW.resource("threads", 1)
    resources:
        mem_mb=FLOW.resource("memory_mb"),
        gpu=FLOW.gpu,
    params:
        spec=FLOW.spec,
        device=FLOW.device,
    shell:
        "{ONSET} sample {params.spec:q} --root {ROOT:q} --result {output.result:q}"
        " --checkpoint {output.checkpoint:q} --threads {threads} --device {params.device} --log {log:q}"

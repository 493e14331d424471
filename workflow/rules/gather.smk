# The blocks of an experiment, joined along its seeds or chains.
rule gather:
    input:
        FLOW.inputs(ancient),
    output:
        result=f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.nc",
    log:
        f"{LOGS}.log",
    benchmark:
        f"{LOGS}.benchmark.tsv"
    wildcard_constraints:
        name=FLOW.names("gather"),
    resources:
        mem_mb=FLOW.resource("memory_mb"),
    params:
        spec=FLOW.spec,
        checkpoint=FLOW.checkpoint_option,
    shell:
        "{ONSET} gather {params.spec:q} --root {ROOT:q} --result {output.result:q} {params.checkpoint}"
        " --device cpu --log {log:q}"


use rule gather as gather_with_checkpoint with:
    output:
        result=f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.nc",
        checkpoint=f"{STORE}/{{scale}}/{{paper}}/{{name}}-{{recipe}}.safetensors",
    wildcard_constraints:
        name=FLOW.names("gather_with_checkpoint"),

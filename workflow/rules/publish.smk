# Copies from the store to the paths that people use, each with its record beside it.  The pointer (`want`)
# is newer than the published file exactly when that file carries another recipe than the present one.
localrules:
    publish_data,
    publish_result,
    publish_checkpoint,
    publish_claims,
    publish_table,
    publish_theory,
    publish_figure,
    link_figure,
    link_headline,
    link_headline_paper_scale,


rule publish_result:
    input:
        unpack(FLOW.publishes("results/{scale}/{paper}/{name}.nc", ancient)),
    output:
        file="results/{scale}/{paper}/{name}.nc",
        record=FLOW.record("results/{scale}/{paper}/{name}.nc"),
    wildcard_constraints:
        name="[a-z0-9_]+",
    shell:
        "cp {input.file:q}.prov.json {output.record:q}.tmp && mv -f {output.record:q}.tmp {output.record:q}"
        " && cp {input.file:q} {output.file:q}.tmp && chmod 644 {output.file:q}.tmp"
        " && mv -f {output.file:q}.tmp {output.file:q}"


use rule publish_result as publish_data with:
    input:
        unpack(FLOW.publishes("results/{scale}/{paper}/data/{name}.nc", ancient)),
    output:
        file="results/{scale}/{paper}/data/{name}.nc",
        record=FLOW.record("results/{scale}/{paper}/data/{name}.nc"),


use rule publish_result as publish_checkpoint with:
    input:
        unpack(
            FLOW.publishes(
                "results/{scale}/{paper}/checkpoints/{name}.safetensors", ancient
            )
        ),
    output:
        file="results/{scale}/{paper}/checkpoints/{name}.safetensors",
        record=FLOW.record("results/{scale}/{paper}/checkpoints/{name}.safetensors"),


use rule publish_result as publish_claims with:
    input:
        unpack(FLOW.publishes("results/{scale}/{paper}/claims/{name}.json", ancient)),
    output:
        file="results/{scale}/{paper}/claims/{name}.json",
        record=FLOW.record("results/{scale}/{paper}/claims/{name}.json"),


use rule publish_result as publish_theory with:
    input:
        unpack(FLOW.publishes("results/{scale}/{paper}/theory/{name}.csv", ancient)),
    output:
        file="results/{scale}/{paper}/theory/{name}.csv",
        record=FLOW.record("results/{scale}/{paper}/theory/{name}.csv"),


use rule publish_result as publish_table with:
    input:
        unpack(FLOW.publishes("results/{scale}/{paper}/{name}.csv", ancient)),
    output:
        file="results/{scale}/{paper}/{name}.csv",
        record=FLOW.record("results/{scale}/{paper}/{name}.csv"),


use rule publish_result as publish_figure with:
    input:
        unpack(FLOW.publishes("figures/{scale}/{paper}/{name}.{extension}", ancient)),
    output:
        file="figures/{scale}/{paper}/{name}.{extension}",
        record=FLOW.record("figures/{scale}/{paper}/{name}.{extension}"),


rule link_figure:
    input:
        unpack(FLOW.links("figures/{paper}/{name}.{extension}")),
    output:
        file="figures/{paper}/{name}.{extension}",
        record=FLOW.record("figures/{paper}/{name}.{extension}"),
    wildcard_constraints:
        name="[a-z0-9_]+",
    params:
        target=FLOW.shorter("figures/{paper}/{name}.{extension}"),
    shell:
        "ln -sf {params.target:q} {output.file:q}"
        " && ln -sf {params.target:q}.prov.json {output.record:q}"


use rule link_figure as link_headline with:
    input:
        unpack(FLOW.links("figures/{scale}/{name}.{extension}")),
    output:
        file="figures/{scale}/{name}.{extension}",
        record=FLOW.record("figures/{scale}/{name}.{extension}"),
    params:
        target=FLOW.shorter("figures/{scale}/{name}.{extension}"),


use rule link_figure as link_headline_paper_scale with:
    input:
        unpack(FLOW.links("figures/{name}.{extension}")),
    output:
        file="figures/{name}.{extension}",
        record=FLOW.record("figures/{name}.{extension}"),
    params:
        target=FLOW.shorter("figures/{name}.{extension}"),


rule unknown_scale_figure:
    input:
        FLOW.refuse_scale,
    output:
        "figures/{unknown}/{rest}",
    wildcard_constraints:
        unknown=FLOW.other_folders,
        rest=".+",


use rule unknown_scale_figure as unknown_scale_result with:
    output:
        "results/{unknown}/{rest}",

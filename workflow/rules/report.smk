# The report of a scale, from everything that is published at it; its pictures are drawn in the same job.
rule write_report:
    input:
        unpack(FLOW.report_inputs(ancient)),
    output:
        page="report/{scale}/index.html",
        record=FLOW.record("report/{scale}/index.html"),
    log:
        "logs/{scale}/report.log",
    benchmark:
        "logs/{scale}/report.benchmark.tsv"
    threads: 4
    params:
        recipe=FLOW.report_recipe,
    shell:
        "{ONSET} report --scale {wildcards.scale} --recipe {params.recipe} --root {ROOT:q}"
        " --threads {threads} > {log:q} 2>&1 || {{ cat {log:q} >&2; exit 1; }}"

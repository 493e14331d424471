# Named targets: `all_<scale>`, `<paper>`, `<paper>_<scale>`, and the stages that dvc.yaml runs.
for scale in FLOW.plan.scales:
    if scale != "paper":

        rule:
            name:
                f"all_{scale}"
            input:
                FLOW.targets(scale),

    for paper in FLOW.plan.catalogue.papers:

        rule:
            name:
                paper if scale == "paper" else f"{paper}_{scale}"
            input:
                FLOW.targets(scale, paper),

        for part in ("data", "results", "figures"):

            rule:
                name:
                    f"stage_{part}_{paper}_{scale}"
                input:
                    FLOW.targets(scale, paper, part),

    rule:
        name:
            "report" if scale == "paper" else f"report_{scale}"
        input:
            f"report/{scale}/index.html",

# Targets, configuration and includes; the rules are in workflow/rules, what exists in workflow/catalogue.yaml.
import sys

sys.path.insert(0, f"{workflow.basedir}/src")

from onset.pipeline.flow import open_flow

FLOW = open_flow(workflow.basedir, workflow.is_main_process)
ONSET = FLOW.command
ROOT = workflow.basedir
STORE = FLOW.store
LOGS = "logs/{scale}/{paper}/{name}-{recipe}"


wildcard_constraints:
    scale=FLOW.scales(),
    paper=FLOW.papers(),
    recipe="[0-9a-f]{16}",
    extension="pdf|png",


rule all:
    input:
        FLOW.targets("paper"),


rule all_figures:
    input:
        FLOW.targets("paper", part="figures"),


include: "workflow/rules/targets.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/sample.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/theory.smk"
include: "workflow/rules/gather.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/publish.smk"
include: "workflow/rules/report.smk"

"use strict";
(() => {
  const form = document.getElementById("filters");
  const words = document.getElementById("words");
  const paper = document.getElementById("paper");
  const verdict = document.getElementById("verdict");
  const status = document.getElementById("status");
  const nothing = document.getElementById("nothing");
  const unfold = document.getElementById("unfold");
  const sections = [...document.querySelectorAll("section.paper")];
  const cards = [...document.querySelectorAll("article.figure")].map((card) => ({
    card,
    claims: [...card.querySelectorAll(".claim")],
    text: [...card.querySelectorAll("[data-search]")].map((part) => part.textContent).join(" ").toLowerCase(),
  }));
  const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

  function apply() {
    const sought = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let figures = 0, claims = 0;
    for (const each of cards) {
      const fits = (claim) => !verdict.value || claim.dataset.verdict.split(" ").includes(verdict.value);
      const shown = (!paper.value || each.card.dataset.paper === paper.value)
        && sought.every((word) => each.text.includes(word))
        && (!verdict.value || each.claims.some(fits));
      each.card.hidden = !shown;
      for (const claim of each.claims) {
        claim.hidden = !fits(claim);
        claims += shown && !claim.hidden;
      }
      figures += shown;
    }
    const narrowed = sought.length > 0 || verdict.value !== "";
    for (const section of sections) {
      section.hidden = !section.querySelector("article.figure:not([hidden])");
      for (const extra of section.querySelectorAll(".extra")) extra.hidden = narrowed;
    }
    nothing.hidden = figures > 0;
    status.textContent = `${figures} of ${count(cards.length, "figure")}, ${count(claims, "claim")} shown`;
  }

  function reset() {
    words.value = paper.value = verdict.value = "";
    apply();
  }

  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.closest("[hidden]")) {
      reset();
      target.scrollIntoView();
    }
  }

  const details = [...document.querySelectorAll("details")];
  function toggle() {
    const open = details.some((each) => !each.open);
    for (const each of details) each.open = open;
    unfold.textContent = open ? "Close all details" : "Open all details";
  }

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = details.filter((each) => !each.open);
    for (const each of closed) each.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
  });
  window.addEventListener("hashchange", reveal);
  for (const control of [words, paper, verdict]) control.addEventListener("input", apply);
  for (const button of document.querySelectorAll(".reset")) button.addEventListener("click", reset);
  unfold.addEventListener("click", toggle);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
  reveal();
})();

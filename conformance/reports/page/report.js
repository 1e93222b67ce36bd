"use strict";
(() => {
  const form = document.querySelector(".filter");
  const words = document.getElementById("words");
  const rows = [...document.querySelectorAll(".requirement")];
  const cells = new Map([...document.querySelectorAll(".cell")].map((cell) => [cell.dataset.id, cell]));
  const sections = [...document.querySelectorAll(".section")];
  const chosen = (name) => new Set([...form.querySelectorAll(`[name=${name}]:checked`)].map((box) => box.value));

  function filter() {
    const wanted = words.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = chosen("verdict");
    const levels = chosen("level");
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = verdicts.has(row.dataset.verdict) && levels.has(row.dataset.level)
        && wanted.every((word) => text.includes(word));
      row.classList.toggle("gone", !fits);
      cells.get(row.dataset.id).classList.toggle("away", !fits);
      count += fits ? 1 : 0;
    }
    const filtered = count < rows.length;
    for (const section of sections) {
      const some = section.querySelector(".requirement:not(.gone)");
      section.classList.toggle("gone", !some);
      if (filtered && some) section.open = true;
    }
    document.getElementById("shown").textContent = `${count} of ${rows.length}`;
  }

  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
    if (target) target.scrollIntoView();
  }

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
  window.addEventListener("hashchange", reveal);
  reveal();
  window.addEventListener("beforeprint", () => {
    for (const closed of document.querySelectorAll("details:not([open])")) closed.open = true;
  });
  if (navigator.clipboard) {
    for (const button of document.querySelectorAll(".copy")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(button.nextElementSibling.textContent);
        button.textContent = "copied";
        setTimeout(() => { button.textContent = "copy"; }, 1500);
      });
    }
  }
})();

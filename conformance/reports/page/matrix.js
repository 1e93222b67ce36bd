"use strict";
(() => {
  const form = document.querySelector(".filter");
  const words = document.getElementById("words");
  const differing = document.getElementById("differing");
  const rows = [...document.querySelectorAll(".row")];
  const sections = [...document.querySelectorAll(".section-rows")];
  const text = new Map(rows.map((row) => {
    const heading = row.parentElement.querySelector(".heading th").textContent;
    return [row, `${heading} ${row.textContent}`.toLowerCase()];
  }));
  const chosen = (name) => new Set([...form.querySelectorAll(`[name=${name}]:checked`)].map((box) => box.value));

  function filter() {
    const wanted = words.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = chosen("verdict");
    const levels = chosen("level");
    let count = 0;
    for (const row of rows) {
      const fits = levels.has(row.dataset.level)
        && row.dataset.verdicts.trim().split(" ").some((verdict) => verdicts.has(verdict))
        && (!differing.checked || row.dataset.differs === "true")
        && wanted.every((word) => text.get(row).includes(word));
      row.classList.toggle("gone", !fits);
      count += fits ? 1 : 0;
    }
    for (const section of sections) section.classList.toggle("gone", !section.querySelector(".row:not(.gone)"));
    document.getElementById("shown").textContent = `${count} of ${rows.length}`;
  }

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();

"use strict";
// What the filters of the pages share: a row is shown if it has all the words and `fits` the
// verdicts that are chosen, and its level is chosen; `update` is told how many are shown.
function filterRows(rows, textOf, fits, update) {
  const form = document.querySelector(".filter");
  const words = document.getElementById("words");
  const chosen = (name) => new Set([...form.querySelectorAll(`[name=${name}]:checked`)].map((box) => box.value));

  function filter() {
    const wanted = words.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = chosen("verdict");
    const levels = chosen("level");
    const shown = new Set(rows.filter((row) => levels.has(row.dataset.level) && fits(row, verdicts)
      && wanted.every((word) => textOf(row).includes(word))));
    for (const row of rows) row.classList.toggle("gone", !shown.has(row));
    update(shown);
    document.getElementById("shown").textContent = `${shown.size} of ${rows.length}`;
  }

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
}

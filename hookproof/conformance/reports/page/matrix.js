(() => {
  const differing = document.getElementById("differing");
  const rows = [...document.querySelectorAll(".row")];
  const sections = [...document.querySelectorAll(".section-rows")];
  const text = new Map(rows.map((row) => {
    const heading = row.parentElement.querySelector(".heading th").textContent;
    return [row, `${heading} ${row.textContent}`.toLowerCase()];
  }));

  filterRows(
    rows,
    (row) => text.get(row),
    (row, verdicts) => row.dataset.verdicts.trim().split(" ").some((verdict) => verdicts.has(verdict))
      && (!differing.checked || row.dataset.differs === "true"),
    () => {
      for (const section of sections) section.classList.toggle("gone", !section.querySelector(".row:not(.gone)"));
    },
  );
})();

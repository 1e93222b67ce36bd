(() => {
  const rows = [...document.querySelectorAll(".requirement")];
  const cells = new Map([...document.querySelectorAll(".cell")].map((cell) => [cell.dataset.id, cell]));
  const sections = [...document.querySelectorAll(".section")];

  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
    if (target) target.scrollIntoView();
  }

  filterRows(
    rows,
    (row) => row.textContent.toLowerCase(),
    (row, verdicts) => verdicts.has(row.dataset.verdict),
    (shown) => {
      for (const row of rows) cells.get(row.dataset.id).classList.toggle("away", !shown.has(row));
      for (const section of sections) {
        const some = section.querySelector(".requirement:not(.gone)");
        section.classList.toggle("gone", !some);
        if (shown.size < rows.length && some) section.open = true;
      }
    },
  );
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

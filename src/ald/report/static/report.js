"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Tables: a click on a header sorts by it, another one turns the order round.
  const compare = (a, b) => {
    const [x, y] = [a, b].map(Number);
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  const sort = (header) => {
    const table = header.closest("table");
    const at = [...header.parentNode.children].indexOf(header);
    const down = header.getAttribute("aria-sort") === "ascending";
    const rows = all("tbody tr", table);
    const value = (row) => row.children[at].dataset.value ?? "";
    rows.sort((a, b) => (value(a) === "") - (value(b) === "") || (down ? -1 : 1) * compare(value(a), value(b)));
    all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    table.tBodies[0].append(...rows);
  };
  all(".ranking thead th").forEach((header) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    header.replaceChildren(button);
    button.addEventListener("click", () => sort(header));
  });

  // Order by confidence or by magnitude: the table, the picture and the cards follow.
  const order = (by) => {
    const key = by === "magnitude" ? "m" : "c";
    const sorted = (nodes) => nodes.sort((a, b) => a.dataset[key] - b.dataset[key]);
    all(".ranking").forEach((table) => {
      all("th[aria-sort]", table).forEach((header) => header.removeAttribute("aria-sort"));
      table.tBodies[0].append(...sorted(all("tbody tr", table)));
    });
    all(".ranked svg").forEach((svg) => {
      const rows = all(".row", svg);
      let y = Math.min(...rows.map((row) => row.transform.baseVal[0].matrix.f));
      sorted(rows).forEach((row) => {
        row.setAttribute("transform", `translate(0 ${y})`);
        y += Number(row.dataset.height);
      });
    });
    const cards = sorted(all("article.card"));
    if (cards.length) document.getElementById("groups").closest("section").after(...cards);
  };
  all(".switch").forEach((fieldset) => {
    fieldset.hidden = false;
    fieldset.addEventListener("change", (event) => order(event.target.value));
  });

  // Where a tree is wider than its box, the group's node is in sight.
  all(".tree .scroll").forEach((box) => {
    const middle = box.querySelector(".target > .box").getBoundingClientRect();
    const frame = box.getBoundingClientRect();
    box.scrollLeft = middle.left + middle.width / 2 - frame.left - frame.width / 2;
  });

  // A link to a list that is closed opens it.
  all('a[href^="#tree-"]').forEach((link) => {
    link.addEventListener("click", () => { document.getElementById(link.hash.slice(1)).open = true; });
  });

  // The document inside the page as a file, where it is inside.
  const save = document.getElementById("save");
  if (save) save.parentNode.hidden = false;
  save?.addEventListener("click", () => {
    const text = document.getElementById("audit").textContent;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "audit.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
})();

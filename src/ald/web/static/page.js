// What makes the pages quicker to use. Without it they work all the same.
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// A file that is dropped or chosen is sent at once, and one sees how much of it has gone.
const send = (form, file) => {
  const said = form.querySelector(".sending");
  const request = new XMLHttpRequest();
  const bar = document.createElement("progress");
  const words = document.createElement("p");
  bar.max = 1;
  bar.setAttribute("aria-label", "How much of the file is sent");
  const stop = document.createElement("button");
  stop.type = "button";
  stop.textContent = "Cancel";
  said.replaceChildren(words, bar, stop);
  stop.addEventListener("click", () => { request.abort(); location.reload(); });
  const tell = (text) => { words.textContent = text; };
  tell(`Sending ${file.name}`);
  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    bar.value = event.loaded / event.total;
    tell(`Sending ${file.name}: ${Math.round(100 * bar.value)} %`);
  });
  request.addEventListener("load", () => {
    let told = {};
    try { told = JSON.parse(request.responseText); } catch { told = { wrong: "The file was not taken." }; }
    if (told.location) { location.assign(told.location); return; }
    const wrong = document.createElement("p");
    wrong.className = "problem";
    wrong.setAttribute("role", "alert");
    wrong.textContent = told.wrong;
    const again = document.createElement("a");
    again.href = "/";
    again.textContent = "Choose another file";
    const line = document.createElement("p");
    line.append(again);
    said.replaceChildren(wrong, line);
  });
  request.addEventListener("error", () => tell("The connection broke. Load the page again."));
  const data = new FormData();
  data.append("ticket", form.elements.ticket.value);
  data.append("file", file, file.name);
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.send(data);
};

const prepareUpload = (form) => {
  const drop = form.querySelector(".drop");
  const chosen = form.elements.file;
  chosen.addEventListener("change", () => { if (chosen.files.length) send(form, chosen.files[0]); });
  form.addEventListener("submit", (event) => {
    if (!chosen.files.length) return;
    event.preventDefault();
    send(form, chosen.files[0]);
  });
  for (const [name, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", over);
      if (name === "drop" && event.dataTransfer.files.length) send(form, event.dataTransfer.files[0]);
    });
  }
};

// What a change of the form means for the data is looked at again, and shown in place.
let looking = null;
const look = async (form, field) => {
  looking?.abort();
  const mine = new AbortController();
  looking = mine;
  const body = new URLSearchParams(new FormData(form));
  body.set("do", "look");
  form.setAttribute("aria-busy", "true");
  all("section", form).forEach((section) => section.classList.add("busy"));
  const [name, value, scroll] = [field.name, field.value, window.scrollY];
  const open = all("details", form).map((each) => each.open);
  try {
    const answer = await fetch(form.action, { method: "POST", body, signal: mine.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector("header").replaceWith(page.querySelector("header"));
    document.querySelector("main").replaceWith(page.querySelector("main"));
    document.title = page.title;
    prepare();
    all("#ask details").forEach((each, i) => { each.open ||= open[i] ?? false; });
    window.scrollTo(0, scroll);
    const again = all(`[name="${CSS.escape(name)}"]`);
    (again.find((each) => each.value === value) ?? again[0])?.focus({ preventScroll: true });
  } catch (error) {
    if (error.name !== "AbortError") location.reload();
  }
};

// These decide what the rest of the page says; all other fields are read when the form is sent.
const DECIDE = /^(about|outcome|prediction|score|score-notion|truth|favourable|kind-\d+|order-\d+|part-\d+|notion|set-.*)$/;
const prepareForm = (form) => {
  form.addEventListener("change", (event) => {
    if (DECIDE.test(event.target.name)) look(form, event.target);
  });
};

// How far work is; at its end the page is loaded again.
const follow = (box) => {
  const news = new EventSource(box.dataset.events);
  const bar = box.querySelector("progress");
  news.addEventListener("message", (event) => {
    const told = JSON.parse(event.data);
    if (!["waiting", "running"].includes(told.state)) {
      news.close();
      location.reload();
      return;
    }
    const step = box.querySelector("#step");
    if (step.textContent !== told.words) step.textContent = told.words;
    box.querySelector("#left").textContent = told.left;
    if (told.done === null) bar.removeAttribute("value");
    else bar.value = told.done;
  });
  window.addEventListener("pagehide", () => news.close());
};

const prepareCopy = (button) => {
  if (!navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.closest("figure").querySelector("code").textContent);
    button.textContent = "Copied";
  });
};

// The values of the chosen attribute are offered beside it.
const prepareGroup = (form) => {
  form.addEventListener("change", (event) => {
    const [what, i] = event.target.name.split("-");
    if (what !== "column") return;
    const value = form.elements[`value-${i}`];
    const list = document.getElementById(`values-${event.target.value}`);
    if (list) value.setAttribute("list", list.id);
    else value.removeAttribute("list");
    value.value = "";
  });
};

// Every node of a tree can be opened: who its people are, in a window of its own.
const describe = async (address) => {
  const dialog = document.createElement("dialog");
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.setAttribute("aria-label", "Who the people of this node are");
  dialog.textContent = "Looking them up …";
  document.body.append(dialog);
  dialog.showModal();
  const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
  const title = document.createElement("h2");
  title.textContent = page.querySelector("h1").textContent;
  dialog.replaceChildren(title, ...page.querySelectorAll(".lead > *, main > *"), close);
  close.focus();
};

const prepareTrees = (main) => {
  const trees = main.dataset.trees.split(" ").filter(Boolean);
  all(".outline", main).forEach((outline, i) => {
    all("li", outline).forEach((item, node) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "describe";
      button.textContent = "who?";
      const label = item.querySelector(":scope > details > summary") ?? item;
      button.setAttribute("aria-label", `Who the people of this node are: ${label.textContent}`);
      button.addEventListener("click", (event) => {
        event.preventDefault();
        describe(`${main.dataset.question}/trees/${trees[i]}/${node}`);
      });
      const details = item.querySelector(":scope > details");
      if (details) details.before(button); else item.append(button);
    });
  });
};

// How many of the listed groups are shown; the order has a switch of its own.
const prepareNumber = (main) => {
  const rows = all(".ranking tbody tr", main);
  const ways = main.querySelector(".ways");
  if (rows.length < 2 || !ways) return;
  const label = document.createElement("label");
  const select = document.createElement("select");
  select.id = "number";
  rows.forEach((_, i) => select.append(new Option(String(i + 1), String(i + 1))));
  select.value = String(rows.length);
  label.append("Groups shown ", select);
  ways.append(label);
  const show = () => {
    const hide = (item, i) => { item.hidden = i >= Number(select.value); };
    all(".ranking tbody tr", main).forEach(hide);
    all("article.card", main).forEach(hide);
    all(".ranked svg", main).forEach((svg) => {
      all(".row", svg)
        .sort((a, b) => a.transform.baseVal[0].matrix.f - b.transform.baseVal[0].matrix.f)
        .forEach((row, i) => row.classList.toggle("unshown", i >= Number(select.value)));
    });
  };
  select.addEventListener("change", show);
  all(".switch", main).forEach((each) => each.addEventListener("change", () => setTimeout(show)));
};

const prepare = () => {
  all("#compose").forEach(prepareGroup);
  all("[data-trees]").forEach(prepareTrees);
  all("[data-question]").forEach(prepareNumber);
  all("#upload").forEach(prepareUpload);
  all("#ask").forEach(prepareForm);
  all("[data-events]").forEach(follow);
  all(".copy").forEach(prepareCopy);
};
prepare();

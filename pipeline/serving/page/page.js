// The pages read well without this file. It adds: local times, the age of what is shown, a live filter, copying, keys, and updates in place.
(() => {
"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (selector, root = document) => root.querySelector(selector);
const two = number => String(number).padStart(2, "0");
document.documentElement.classList.add("js");

// ---- times: the server writes UTC ----
const clock = at => [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
const day = at => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
const makeLocal = root => {
  for (const time of all("time[datetime]", root)) {
    const at = new Date(time.dateTime);
    time.textContent = /^\d{4}-/.test(time.textContent) && day(at) !== day(new Date()) ? `${day(at)} ${clock(at)}` : clock(at);
  }
  for (const text of all("[data-time]", root)) text.textContent = clock(new Date(text.dataset.time));
};
const zone = () => {
  const minutes = -new Date().getTimezoneOffset(), whole = Math.abs(minutes);
  const offset = `${minutes < 0 ? "−" : "+"}${Math.floor(whole / 60)}${whole % 60 ? ":" + two(whole % 60) : ""}`;
  one("#tz").textContent = `Times are local (UTC${offset}); point at one to see UTC.`;
};
const localField = at => `${day(at)}T${clock(at)}`;
const localPicker = () => {
  const form = one("form.when");
  if (!form) return;
  for (const field of all("input[type=datetime-local]", form)) if (field.value) field.value = localField(new Date(field.value + "Z"));
  one("[value=now]", form).addEventListener("change", () => form.requestSubmit());
  form.addEventListener("submit", event => {
    event.preventDefault();
    const chosen = one("[name=when]:checked", form).value, asked = new URLSearchParams();
    for (const hidden of all("input[type=hidden]", form)) asked.append(hidden.name, hidden.value);
    for (const name of { now: [], at: ["at"], range: ["from", "to"] }[chosen]) {
      const value = one(`#${name}`, form).value;
      if (value) asked.append(name, new Date(value).toISOString());
    }
    location.search = asked.toString();
  });
};

// ---- the age of what is shown ----
const LATE_S = 15, STALE_S = 60;
const span = seconds => {
  const parts = [];
  let left = Math.round(seconds);
  for (const [size, name] of [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]]) {
    const count = Math.floor(left / size);
    left %= size;
    if (count) parts.push(`${count}\u00a0${name}`);
  }
  return parts.slice(0, 2).join("\u00a0") || "0\u00a0s";
};
let title = document.title;
const tellAge = () => {
  const fresh = one("#fresh"), asOf = fresh?.dataset.asOf;
  if (!fresh) return;
  if (!asOf || "ended" in fresh.dataset) {
    document.title = title;
    one("#stale").hidden = true;
    document.body.classList.remove("stale");
    fresh.classList.toggle("harm", !asOf || one("[href='#m-gap']", fresh) !== null);
    return;
  }
  const age = Math.max(0, (Date.now() - new Date(asOf)) / 1000), late = age > LATE_S;
  one(".age", fresh).textContent = `, ${span(age)} ago`;
  fresh.classList.toggle("harm", late || one("[href='#m-gap']", fresh) !== null);
  document.title = late ? `stale · ${title}` : title;
  one("#stale").hidden = age <= STALE_S;
  one("#stale .age").textContent = span(age);
  document.body.classList.toggle("stale", age > STALE_S);
};

// ---- the filter: every word must be in the row ----
const filter = one("#filter"), table = one("table.main");
const unitsOf = root => all("tbody[data-key]", root); // of one subscription, or of the partitions of a topic
const applyFilter = () => {
  if (!filter || !table) return;
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const units = unitsOf(table);
  let shown = 0;
  for (const unit of units) {
    unit.hidden = !words.every(word => unit.dataset.words.includes(word));
    shown += !unit.hidden;
  }
  if (words.length || one("#shown").dataset.mine) {
    one("#shown").textContent = words.length ? `${shown} of ${units.length} rows shown.` : "";
    one("#shown").dataset.mine = "1";
  }
};
filter?.addEventListener("input", applyFilter);
one("form.filter")?.addEventListener("change", event => { if (event.target.matches("select")) event.target.form.requestSubmit(); });

// ---- copying ----
const showButtons = root => { for (const button of all("button[data-copy]", root)) button.hidden = false; };
document.addEventListener("click", async event => {
  const button = event.target.closest?.("button[data-copy]");
  if (!button) return;
  const code = one("code", button.parentElement);
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Ctrl+C";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});

// ---- one cursor in all charts, its figures at the right of each title ----
let cursor = null; // percent of the axis that all charts share
const localSlot = words => words.replace(/\d\d:\d\d:\d\d(?= UTC)/, utc => {
  const day = one(".draw text[data-time]")?.dataset.time.slice(0, 10);
  return day ? clock(new Date(`${day}T${utc}Z`)) : utc;
}).replace(" UTC:", ":");
const showCursor = () => {
  for (const figure of all("figure.ch")) {
    for (const end of ["x1", "x2"]) one(".cur", figure).setAttribute(end, cursor === null ? -99 : `${cursor}%`);
    const isUnder = hit => {
      const left = parseFloat(hit.getAttribute("x"));
      return cursor !== null && left <= cursor && cursor < left + parseFloat(hit.getAttribute("width"));
    };
    const hit = all(".hit", figure).filter(isUnder).pop();
    one("output", figure).textContent = hit ? localSlot(one("title", hit).textContent) : "";
  }
};
document.addEventListener("pointermove", event => {
  const draw = event.target.closest?.(".draw"), place = draw?.getBoundingClientRect();
  if (!draw && cursor === null) return;
  cursor = draw ? Math.min(99.99, Math.max(0, (event.clientX - place.left) / place.width * 100)) : null;
  showCursor();
});

// ---- keys ----
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("input, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "/" && filter) { filter.focus(); event.preventDefault(); }
  const links = all("table.main .who a").filter(link => link.checkVisibility()), at = links.indexOf(document.activeElement);
  if (event.key === "j" && links.length) links[Math.min(at + 1, links.length - 1)].focus();
  if (event.key === "k" && links.length) links[Math.max(at - 1, 0)].focus();
});

// ---- updates: text is replaced in place, parts come and go; rows move only while nobody is on them ----
const isBusy = node => node.matches(":hover") || node.contains(document.activeElement);
const put = (old, made) => {
  makeLocal(made);
  showButtons(made);
  const open = new Set(all("details[open]", old).map(fold => fold.dataset.key));
  for (const fold of all("details", made)) fold.open = open.has(fold.dataset.key);
  // Whoever has the focus within keeps it; the next change comes soon.
  if (old.innerHTML !== made.innerHTML && !old.contains(document.activeElement)) old.innerHTML = made.innerHTML;
};
const putUnit = (old, made) => {
  old.dataset.words = made.dataset.words;
  const isOpen = one(".fold input", old)?.checked;
  if (old.rows.length === made.rows.length) {
    [...made.rows].forEach((row, place) => [...row.cells].forEach((cell, number) => put(old.rows[place].cells[number], cell)));
  } else if (!isBusy(old)) {
    makeLocal(made);
    old.replaceChildren(...made.rows);
  }
  if (isOpen) one(".fold input", old).checked = true;
};
const keysIn = root => all("[data-live]", root).map(part => part.dataset.live).join();
const updateParts = made => {
  for (const old of all("[data-slot]")) {
    const next = one(`[data-slot="${CSS.escape(old.dataset.slot)}"]`, made);
    if (next && keysIn(old) !== keysIn(next)) put(old, next);
  }
  for (const old of all("[data-live]")) {
    const next = one(`[data-live="${CSS.escape(old.dataset.live)}"]`, made);
    if (next) put(old, next);
  }
};
const updateCorner = made => {
  const old = one("#fresh"), next = one("#fresh", made);
  for (const name of ["asOf", "ended"]) {
    if (name in next.dataset) old.dataset[name] = next.dataset[name];
    else delete old.dataset[name];
  }
};
let pending = null; // rows in an order that waits
const updateRows = made => {
  pending = null;
  const next = unitsOf(one("table.main", made)), mine = new Map(unitsOf(table).map(unit => [unit.dataset.key, unit]));
  const held = isBusy(table) || filter.value !== "";
  let waiting = 0;
  for (const unit of next) {
    const old = mine.get(unit.dataset.key);
    if (old) putUnit(old, unit);
    else waiting += held;
  }
  const order = next.map(unit => unit.dataset.key), now = [...mine.keys()];
  if (!held && order.join("\n") !== now.join("\n")) {
    for (const unit of mine.values()) unit.remove();
    table.append(...next.map(unit => {
      const old = mine.get(unit.dataset.key);
      if (old) return old;
      makeLocal(unit);
      unit.classList.add("new");
      return unit;
    }));
  } else if (held) {
    pending = made;
    waiting += now.filter((name, place) => order[place] !== name).length;
  }
  const foot = one("#order");
  foot.hidden = !(held && waiting);
  foot.textContent = `Order changed, ${waiting} rows. It is applied when you leave the table and the filter is empty.`;
};
const applyOrder = () => { if (pending && !isBusy(table) && filter.value === "") { updateRows(pending); applyFilter(); } };
for (const happening of ["pointerout", "focusout", "input"]) document.addEventListener(happening, () => setTimeout(applyOrder));
const update = async () => {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (answer.status === 401) location.reload(); // the session has ended
  if (!answer.ok) return;
  const made = new DOMParser().parseFromString(await answer.text(), "text/html");
  // Another page stands there now: the first row came, or a broker's first window ended.
  if (made.body.dataset.livePage !== document.body.dataset.livePage || Boolean(table) !== Boolean(one("table.main", made))) {
    location.reload();
    return;
  }
  title = made.title;
  updateParts(made);
  updateCorner(made);
  if (filter && !one("#shown").dataset.mine) put(one("#shown"), one("#shown", made));
  if (table) { updateRows(made); applyFilter(); }
  showCursor();
  tellAge();
};
const listen = () => {
  if (!("livePage" in document.body.dataset)) return;
  let polling = null;
  const events = new EventSource("/events");
  const safely = () => update().catch(() => {}); // the server is away; the age in the corner tells it
  events.addEventListener("changed", safely);
  events.addEventListener("open", () => { clearInterval(polling); polling = null; });
  events.addEventListener("error", () => { polling ??= setInterval(safely, 5000); });
};

makeLocal(document);
zone();
localPicker();
showButtons(document);
applyFilter();
tellAge();
setInterval(tellAge, 1000);
listen();
})();

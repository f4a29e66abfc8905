"use strict";
// The form of one rater. Everything shown comes from the JSON in the page and is set as text, never as markup.
const form = JSON.parse(document.getElementById("form").textContent);
const byId = (id) => document.getElementById(id);
const storageKey = `wikisum-study:${form.study}:${form.rater}`;
let state = { at: 0, answers: {} };
let unsaved = false;
let warned = false; // of what is missing, so that the next click hands it in as it is

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(storageKey));
    if (kept && kept.answers) state = kept;
  } catch (error) {
    unsaved = true;
  }
}

function save() {
  warned = false;
  try {
    localStorage.setItem(storageKey, JSON.stringify(state));
    unsaved = false;
  } catch (error) {
    unsaved = true;
  }
  showProgress();
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

const letter = (index) => String.fromCharCode(65 + index);
const answerOf = (item) => (state.answers[item.id] ??= {});

// Names of what an item still lacks, as its inputs are named; empty when it is complete.
function lacking(item) {
  const answer = state.answers[item.id] || {};
  const choices = form.task === "best-worst" ? ["best", "worst"] : [];
  if (form.task === "ratings") {
    item.texts.forEach((_, place) => form.criteria.forEach((criterion) => choices.push(`${place} ${criterion.key}`)));
  }
  if (form.task === "qa") {
    const said = answer.said || {};
    return item.questions.map((_, number) => number).filter((number) => said[number] === undefined || said[number] === "")
      .map((number) => `said ${number}`);
  }
  return choices.filter((name) => (answer.choices || {})[name] === undefined);
}

function showProgress() {
  const done = form.items.filter((item) => lacking(item).length === 0).length;
  byId("progress").value = done;
  byId("done").textContent = `${done} of ${form.items.length} articles done`;
  document.title = `${done}/${form.items.length} done: form ${form.rater}`;
  [...byId("jump").options].forEach((option, index) => {
    option.textContent = `${lacking(form.items[index]).length ? "" : "\u2713 "}${index + 1}. ${form.items[index].title}`;
  });
  if (unsaved) byId("message").textContent = "This browser keeps no answers: do not close the page before you have downloaded them.";
}

function choose(item, name, value) {
  const choices = (answerOf(item).choices ??= {});
  choices[name] = value;
  const other = name === "best" ? "worst" : name === "worst" ? "best" : null;
  if (other && choices[other] === value) {
    delete choices[other];
    document.querySelectorAll(`input[name="${other}"]`).forEach((input) => { input.checked = false; });
  }
  save();
}

function radios(item, name, legend, help, options) {
  const group = element("fieldset", { "data-name": name }, element("legend", {}, legend), " ");
  if (help) group.append(element("span", { class: "help" }, help), element("br"));
  for (const [value, label] of options) {
    const input = element("input", { type: "radio", name, value, checked: (answerOf(item).choices || {})[name] === value });
    input.addEventListener("change", () => choose(item, name, value));
    group.append(element("label", { class: "choice" }, input, label));
  }
  return group;
}

function question(item, number, text) {
  const said = (answerOf(item).said ??= {});
  const name = `said ${number}`;
  const field = element("input", { type: "text", id: name, autocomplete: "off", maxlength: 300 });
  const none = element("input", { type: "checkbox" });
  field.value = said[number] || "";
  none.checked = said[number] === null;
  field.disabled = none.checked;
  field.addEventListener("input", () => { said[number] = field.value.trim(); save(); });
  none.addEventListener("change", () => {
    said[number] = none.checked ? null : field.value.trim();
    field.disabled = none.checked;
    save();
  });
  return element("div", { class: "question", "data-name": name },
    element("label", { for: name }, text), field,
    element("label", { class: "choice" }, none, "The text does not say"));
}

function show(focus) {
  const item = form.items[state.at];
  const screen = byId("item");
  const heading = element("h2", { tabindex: "-1" }, `${state.at + 1}. ${item.title}`);
  screen.replaceChildren(heading);
  if (item.reference) {
    screen.append(element("h3", {}, "Reference"), element("p", { class: "reference", dir: "auto" }, item.reference));
  }
  const texts = element("div", { class: "texts" });
  item.texts.forEach((text, place) => {
    const name = item.texts.length > 1 ? `Text ${letter(place)}` : "Text";
    const card = element("section", { class: "text" }, element("h3", {}, name), element("p", { dir: "auto" }, text || "(an empty text)"));
    if (form.task === "ratings") {
      card.append(element("div", { class: "choices", tabindex: "0", role: "group", "aria-label": `Ratings of ${name}` }, ...form.criteria.map((criterion) =>
        radios(item, `${place} ${criterion.key}`, criterion.name, criterion.help, form.levels))));
    }
    texts.append(card);
  });
  screen.append(texts);
  if (form.task === "best-worst") {
    const options = item.texts.map((_, place) => [place, `Text ${letter(place)}`]);
    byId("choices").replaceChildren(radios(item, "best", "Best", "", options), radios(item, "worst", "Worst", "", options));
  }
  if (form.task === "qa") item.questions.forEach((text, number) => screen.append(question(item, number, text)));
  if (item.sources.length) {
    screen.append(element("details", {}, element("summary", {}, `Sources: the first ${item.sources.length} paragraphs of the input`),
      ...item.sources.map((source) => element("p", { dir: "auto" }, source))));
  }
  const comment = element("textarea", { rows: 2, maxlength: 1000 });
  comment.value = answerOf(item).comment || "";
  comment.addEventListener("input", () => { answerOf(item).comment = comment.value.trim(); save(); });
  screen.append(element("label", { class: "comment" }, "Comment (not required)", comment));
  byId("jump").selectedIndex = state.at;
  byId("previous").disabled = state.at === 0;
  byId("next").disabled = state.at === form.items.length - 1;
  byId("message").textContent = "";
  showProgress();
  if (focus) {
    heading.focus();
    window.scrollTo(0, 0);
  }
}

function go(to) {
  if (to < 0 || to >= form.items.length) return;
  state.at = to;
  save();
  show(true);
}

function download() {
  const complete = form.items.filter((item) => lacking(item).length === 0);
  const open = form.items.findIndex((item) => lacking(item).length);
  if (open >= 0 && !warned) {
    const count = form.items.length - complete.length;
    go(open);
    warned = complete.length > 0;
    byId("message").textContent = `${count} of ${form.items.length} articles still need answers; this is the first of them.${warned ? " Click again to hand in the others alone." : ""}`;
    const names = lacking(form.items[open]);
    document.querySelectorAll("[data-name]").forEach((part) => part.classList.toggle("missing", names.includes(part.dataset.name)));
    return;
  }
  // The texts go back with the answers, so that nobody scores judgements of other texts.
  const answers = complete.map((item) => ({ article: item.id, texts: item.texts, ...state.answers[item.id] }));
  const content = JSON.stringify({ format: form.format, study: form.study, rater: form.rater, answers }, null, 1);
  const link = element("a", {
    href: URL.createObjectURL(new Blob([content], { type: "application/json" })),
    download: `answers-${form.study}-${String(form.rater).padStart(2, "0")}.json`,
  });
  link.click();
  byId("message").textContent = `Downloaded${open >= 0 ? ` with ${complete.length} of ${form.items.length} articles; you can go on and download all later` : ""}. Send the file to the people who gave you this form.`;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input[type=text], textarea, select")) return;
  if (event.key === "n") go(state.at + 1);
  else if (event.key === "p") go(state.at - 1);
  else if (form.task === "best-worst" && /^Digit[1-9]$/.test(event.code)) {
    const place = Number(event.code.slice(5)) - 1;
    const input = document.querySelector(`input[name="${event.shiftKey ? "worst" : "best"}"][value="${place}"]`);
    if (input) input.click();
  }
});
byId("previous").addEventListener("click", () => go(state.at - 1));
byId("next").addEventListener("click", () => go(state.at + 1));
byId("jump").addEventListener("change", (event) => go(event.target.selectedIndex));
byId("download").addEventListener("click", download);
load();
state.at = Math.min(state.at, form.items.length - 1);
byId("jump").append(...form.items.map(() => element("option")));
show(false);

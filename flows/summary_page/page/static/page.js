"use strict";
const post = async (address, body, type, method = "POST") => {
  const answer = await fetch(address, { method, body, headers: type ? { "Content-Type": type } : {} });
  const text = await answer.text();
  let said;
  try {
    said = JSON.parse(text);
  } catch {
    said = { detail: text };
  }
  if (!answer.ok) throw new Error(said.detail);
  return said.id;
};
const show = (id) => {
  sessionStorage.setItem("focus", id);
  location.assign(`/summary/${id}`);
};

// The form: choose or drop files, send them one by one, then the request that names them.
const form = document.getElementById("request");
if (form) {
  const fault = document.getElementById("fault");
  const sending = document.getElementById("sending");
  const send = document.getElementById("send");
  const input = document.getElementById("files");
  const drop = document.getElementById("drop");
  const list = document.getElementById("chosen");
  const most = Number(form.dataset.mostBytes);
  let chosen = [];

  const say = (text, field) => {
    fault.hidden = !text;
    fault.textContent = text;
    for (const other of form.querySelectorAll("[aria-invalid]")) other.removeAttribute("aria-invalid");
    if (text && field) {
      field.setAttribute("aria-invalid", "true");
      field.focus();
    }
  };

  const list_files = () => {
    list.replaceChildren(...chosen.map((file, index) => {
      const item = document.createElement("li");
      const remove = document.createElement("button");
      remove.type = "button";
      remove.className = "small";
      remove.textContent = "remove";
      remove.setAttribute("aria-label", `remove ${file.name}`);
      remove.addEventListener("click", () => {
        chosen.splice(index, 1);
        list_files();
        input.focus();
      });
      const name = document.createElement("span");
      name.textContent = file.name;
      item.append(name, remove);
      return item;
    }));
  };

  const add = (files, folders = []) => {
    const large = [...files].filter((file) => file.size > most);
    chosen = chosen.concat([...files].filter((file) => file.size <= most));
    list_files();
    say([
      ...large.map((file) => `${file.name} is not sent: it has ${Math.round(file.size / 1e6)} MB, expected at most ${form.dataset.most}.`),
      ...folders.map((folder) => `${folder.name} is a folder: choose its files, or drop them.`),
    ].join(" "));
  };

  input.addEventListener("change", () => {
    add(input.files);
    input.value = "";
  });
  // Anywhere on the page: a browser would leave the form and open a file that is dropped beside its field.
  const with_files = (event) => event.dataTransfer.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!with_files(event)) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) drop.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    if (!with_files(event)) return;
    event.preventDefault();
    drop.classList.remove("over");
    const folders = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()?.isDirectory);
    const dropped = [...event.dataTransfer.files];
    add(dropped.filter((_, n) => !folders[n]), dropped.filter((_, n) => folders[n]));
  });

  // Sources of an earlier summary: as they were read, or a text that is pasted in the place of one that was not.
  const kept = () => [...form.querySelectorAll("#kept li")].map((row) => {
    const text = row.querySelector("textarea")?.value ?? "";
    const number = Number(row.dataset.number);
    return text.trim() ? { text, name: row.dataset.name } : { summary: form.dataset.of, number };
  });
  for (const remove of form.querySelectorAll("#kept button")) {
    remove.addEventListener("click", () => {
      remove.closest("li").remove();
      form.elements.title.focus();
    });
  }
  const length = form.elements.length_;
  const { words, language } = form.elements;
  const measure = () => {
    words.hidden = length.value !== "";
  };
  length.addEventListener("change", () => {
    if (length.value) words.value = length.value;
    measure();
  });
  measure();
  const named = new Intl.DisplayNames(["en"], { type: "language" });
  const [any, ...codes] = language.options;
  for (const option of codes) option.textContent = named.of(option.value);
  const chosen_language = language.value;
  language.replaceChildren(any, ...codes.sort((one, other) => one.text.localeCompare(other.text)));
  language.value = chosen_language;

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const urls = form.elements.urls.value.split(/\s*\n\s*/).filter(Boolean);
    const text = form.elements.text.value;
    const sources = [...kept(), ...urls.map((url) => ({ url }))];
    if (!sources.length && !chosen.length && !text.trim()) {
      return say("Sources are missing: give at least one web address, file or text.", form.elements.urls);
    }
    if (!words.checkValidity()) return say("Length: expected 20 to 2,000 words.", words);
    say("");
    send.disabled = true;
    try {
      for (const [index, file] of chosen.entries()) {
        sending.textContent = `sending ${file.name} (${index + 1} of ${chosen.length})`;
        try {
          const address = `/api/files?name=${encodeURIComponent(file.name)}`;
          sources.push({ file: await post(address, file, "application/octet-stream") });
        } catch (error) {
          throw new Error(`${file.name}: ${error.message}`);
        }
      }
      if (text.trim()) sources.push({ text });
      const request = {
        title: form.elements.title.value,
        sources,
        system: form.elements.system?.value ?? "suitable",
        words: Number(words.value),
        language: language.value || null,
        headings: JSON.parse(form.elements.headings.value),
        pinned: JSON.parse(form.dataset.pinned),
      };
      show(await post("/api/summaries", JSON.stringify(request), "application/json"));
    } catch (error) {
      say(`Not sent: ${error.message}`);
      send.disabled = false;
      sending.textContent = "";
    }
  });
  window.addEventListener("pageshow", () => {
    send.disabled = false;
    sending.textContent = "";
  });
}

// Progress: watched until the summary is there, which the server then shows at the same address.
const section = document.getElementById("progress");
if (section) {
  const status = document.getElementById("status");
  const bar = document.getElementById("bar");
  const cancel = document.getElementById("cancel");
  const address = `/api/summaries/${section.dataset.job}`;
  cancel.addEventListener("click", async () => {
    cancel.disabled = true;
    status.textContent = "cancelling";
    try {
      await post(`${address}/cancel`);
      sessionStorage.setItem("focus", section.dataset.job);
    } catch {
      cancel.disabled = false;
      status.textContent = "The server did not cancel it; try again.";
    }
  });
  const events = new EventSource(`${address}/events`);
  events.addEventListener("progress", (event) => {
    const now = JSON.parse(event.data);
    if (!["waiting", "working"].includes(now.state)) return location.reload();
    bar.value = now.share;
    if (!cancel.disabled && status.textContent !== now.text) status.textContent = now.text;
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) return location.reload(); // it is gone, as the page then says
    status.textContent = "The server does not answer; trying again.";
  });
}

// The same sources again, read as they were, with another system.
for (const again of document.querySelectorAll("[data-system]")) {
  const { job } = again.parentElement.dataset;
  again.addEventListener("click", async () => {
    again.disabled = true;
    try {
      show(await post(`/api/summaries/${job}/again?system=${encodeURIComponent(again.dataset.system)}`));
    } catch (error) {
      again.parentElement.querySelector("[role=status]").textContent = `Not written again: ${error.message}`;
      again.disabled = false;
    }
  });
  window.addEventListener("pageshow", () => {
    again.disabled = false;
  });
}

// Sentences are changed, moved and dropped in a form; the server checks them again.
const edit = document.getElementById("edit");
if (edit) {
  const open = document.getElementById("edit-open");
  const status = edit.querySelector("[role=status]");
  const as_it_was = edit.querySelector("ol").innerHTML;
  const show_form = (shown) => {
    edit.hidden = !shown;
    open.setAttribute("aria-expanded", String(shown));
    if (shown) edit.querySelector("textarea").focus();
    else open.focus();
  };
  open.addEventListener("click", () => show_form(edit.hidden));
  edit.addEventListener("click", (event) => {
    const { move, close } = event.target.dataset;
    if (close !== undefined) {
      edit.querySelector("ol").innerHTML = as_it_was;
      return show_form(false);
    }
    if (event.target.dataset.pin !== undefined) {
      const pinned = event.target.getAttribute("aria-pressed") !== "true";
      return event.target.setAttribute("aria-pressed", String(pinned));
    }
    const row = event.target.closest("li");
    if (!move || !row) return undefined;
    const next = row.nextElementSibling || row.previousElementSibling;
    if (move === "up") row.previousElementSibling?.before(row);
    if (move === "down") row.nextElementSibling?.after(row);
    if (move === "out") row.remove();
    return (move === "out" ? next?.querySelector("textarea") ?? edit.querySelector("[data-close]") : event.target).focus();
  });
  edit.addEventListener("submit", async (event) => {
    event.preventDefault();
    const rows = [...edit.querySelectorAll("li")];
    const sentences = rows.map((row) => row.querySelector("textarea").value);
    const pinned = sentences.filter((_, n) => rows[n].querySelector("[data-pin]").getAttribute("aria-pressed") === "true");
    status.textContent = "checking";
    try {
      const address = `/api/summaries/${edit.dataset.job}/sentences`;
      show(await post(address, JSON.stringify({ sentences, pinned }), "application/json", "PUT"));
    } catch (error) {
      status.textContent = `Not saved: ${error.message}`;
    }
  });
}

// A question about the sources; its answer is a page of its own.
const ask = document.getElementById("ask");
if (ask) {
  const button = ask.querySelector("button");
  ask.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      const body = JSON.stringify({ question: ask.elements.question.value });
      show(await post(`/api/summaries/${ask.dataset.job}/questions`, body, "application/json"));
    } catch (error) {
      ask.querySelector("[role=status]").textContent = `Not asked: ${error.message}`;
      button.disabled = false;
    }
  });
  window.addEventListener("pageshow", () => {
    button.disabled = false;
  });
}

// Deleting takes two clicks on the same button.
for (const button of document.querySelectorAll("[data-delete]")) {
  button.addEventListener("click", async () => {
    if (!button.dataset.sure) {
      button.dataset.sure = "yes";
      button.textContent = "really delete?";
      return undefined;
    }
    try {
      await post(`/api/summaries/${button.dataset.delete}`, undefined, undefined, "DELETE");
      return document.querySelector(".past") ? location.reload() : location.assign("/summaries");
    } catch (error) {
      button.textContent = `not deleted: ${error.message}`;
      return undefined;
    }
  });
}

// What supports a sentence: on hover by the style sheet, and on a click or key here.
for (const button of document.querySelectorAll(".support")) {
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    button.closest("li").classList.toggle("open", !open);
  });
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const one of document.querySelectorAll(".support[aria-expanded=true]")) one.click();
});

// Copying: the clipboard is there only on this machine or over HTTPS, selecting and copying everywhere.
const copy = async (text, what) => {
  const said = document.getElementById("copied");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  said.textContent = `${what} copied`;
};
document.getElementById("copy")?.addEventListener("click", async () => {
  const answer = await fetch(`${location.pathname}/export.cited.txt`);
  await copy(await answer.text(), "Summary");
});
document.getElementById("copy-link")?.addEventListener("click", () => copy(location.href.split("#")[0], "Link"));
// A failed download would not say why; the page does.
for (const link of document.querySelectorAll(".exports a")) {
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    const said = document.getElementById("copied");
    let answer;
    try {
      answer = await fetch(link.href);
    } catch {
      said.textContent = `No ${link.textContent}: the page does not answer. Is its command still running?`;
      return;
    }
    if (!answer.ok) {
      said.textContent = `No ${link.textContent}: ${(await answer.json()).detail}`;
      return;
    }
    const file = document.createElement("a");
    file.href = URL.createObjectURL(await answer.blob());
    file.download = link.href.replace(/.*\/export/, "summary");
    file.click();
    said.textContent = "";
    setTimeout(() => URL.revokeObjectURL(file.href), 60000);
  });
}
document.getElementById("print")?.addEventListener("click", () => window.print());

// A citation opens its source, scrolls to the passage and marks it; from there one link leads back to the sentence.
const back = new Map();
const reveal = (passage, quote) => {
  const source = passage.closest("details");
  if (source) source.open = true;
  for (const other of document.querySelectorAll(".passage.shown")) other.classList.remove("shown");
  passage.classList.add("shown");
  for (const mark of passage.querySelectorAll("mark")) mark.classList.toggle("other", !!quote && mark.textContent !== quote);
  passage.scrollIntoView({ block: "center" });
  passage.focus({ preventScroll: true });
};
for (const cite of document.querySelectorAll("a.cite")) {
  cite.addEventListener("click", (event) => {
    const passage = document.getElementById(cite.getAttribute("href").slice(1));
    if (!passage) return;
    event.preventDefault();
    history.replaceState(null, "", cite.getAttribute("href"));
    back.set(passage, cite);
    reveal(passage, cite.dataset.quote);
  });
}
for (const link of document.querySelectorAll("a.back")) {
  link.addEventListener("click", (event) => {
    const passage = link.closest(".passage");
    const cite = back.get(passage) || document.querySelector(`a.cite[href="#${passage.id}"]`);
    if (!cite) return;
    event.preventDefault();
    cite.scrollIntoView({ block: "center" });
    cite.focus({ preventScroll: true });
  });
}
const target = location.hash.startsWith("#passage-") && document.getElementById(location.hash.slice(1));
if (target) reveal(target);
const opened = location.hash.startsWith("#source-") && document.getElementById(location.hash.slice(1));
if (opened) opened.open = true;

// Coming from the form, the reader starts at the heading, unless they are in a field already.
const heading = document.getElementById("heading");
if (heading && !section && sessionStorage.getItem("focus") && location.pathname.endsWith(sessionStorage.getItem("focus"))) {
  sessionStorage.removeItem("focus");
  if (document.activeElement === document.body) heading.focus();
}

// A list whose shards are still read comes again until all are there; what a person is using stays as it is.
const read_on = async () => {
  const part = (id, of = document) => of.getElementById(id);
  while (part("listing")?.hasAttribute("data-reading")) {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const answer = await fetch(location.href).catch(() => undefined);
    if (!answer?.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const shown = part("listing");
    const focused = document.activeElement;
    if (!part("filters").contains(focused) && !part("filters").dataset.touched) part("filters").replaceWith(part("filters", fresh));
    if (shown.contains(focused)) shown.querySelector("[role=status]").replaceWith(fresh.querySelector("#listing [role=status]"));
    else shown.replaceWith(part("listing", fresh));
  }
};
if (document.getElementById("listing")) {
  document.addEventListener("input", (event) => {
    const filters = event.target.closest("#filters");
    if (filters) filters.dataset.touched = "yes";
  });
  read_on();
}

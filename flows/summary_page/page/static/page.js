"use strict";
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

  const show = () => {
    list.replaceChildren(...chosen.map((file, index) => {
      const item = document.createElement("li");
      const remove = document.createElement("button");
      remove.type = "button";
      remove.textContent = "remove";
      remove.setAttribute("aria-label", `remove ${file.name}`);
      remove.addEventListener("click", () => {
        chosen.splice(index, 1);
        show();
        input.focus();
      });
      item.append(file.name, remove);
      return item;
    }));
  };

  const add = (files) => {
    const large = [...files].filter((file) => file.size > most);
    chosen = chosen.concat([...files].filter((file) => file.size <= most));
    show();
    say(large.map((file) => `${file.name} is not sent: it has ${Math.round(file.size / 1e6)} MB, expected at most ${form.dataset.most}.`).join(" "));
  };

  input.addEventListener("change", () => {
    add(input.files);
    input.value = "";
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    add(event.dataTransfer.files);
  });

  const post = async (address, body, type) => {
    const answer = await fetch(address, { method: "POST", body, headers: { "Content-Type": type } });
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

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const title = form.elements.title;
    const urls = form.elements.urls.value.split(/\s*\n\s*/).filter(Boolean);
    const text = form.elements.text.value;
    if (!title.value.trim()) return say("Give a title: the topic in a few words.", title);
    if (!urls.length && !chosen.length && !text.trim()) {
      return say("There is only a title: give at least one web address, file or text.", form.elements.urls);
    }
    say("");
    send.disabled = true;
    try {
      const files = [];
      for (const file of chosen) {
        sending.textContent = `sending ${file.name} (${files.length + 1} of ${chosen.length})`;
        try {
          files.push(await post(`/api/files?name=${encodeURIComponent(file.name)}`, file, "application/octet-stream"));
        } catch (error) {
          throw new Error(`${file.name}: ${error.message}`);
        }
      }
      const system = form.elements.system ? form.elements.system.value : "suitable";
      const request = JSON.stringify({ title: title.value, urls, text, files, system });
      const id = await post("/api/summaries", request, "application/json");
      sessionStorage.setItem("focus", id);
      location.assign(`/summary/${id}`);
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

// Progress: asked for until the summary is there, which the server then shows at the same address.
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
      const answer = await fetch(`${address}/cancel`, { method: "POST" });
      if (answer.ok) return sessionStorage.setItem("focus", section.dataset.job);
    } catch {
      // said below, as for an answer that is no consent
    }
    cancel.disabled = false;
    status.textContent = "The server did not cancel it; try again.";
  });
  const follow = async () => {
    try {
      const answer = await fetch(address);
      const now = await answer.json();
      if (!answer.ok || !["waiting", "working"].includes(now.state)) return location.reload();
      bar.value = now.share;
      if (!cancel.disabled && status.textContent !== now.text) status.textContent = now.text;
    } catch {
      status.textContent = "The server does not answer; trying again.";
    }
    return setTimeout(follow, 400);
  };
  follow();
}

// The same sources again, read as they were, with the other system.
const again = document.querySelector("#again button");
if (again) {
  again.addEventListener("click", async () => {
    const said = again.parentElement.querySelector("[role=status]");
    again.disabled = true;
    try {
      const address = `/api/summaries/${again.parentElement.dataset.job}/again?system=${again.dataset.system}`;
      const answer = await fetch(address, { method: "POST" });
      const now = await answer.json();
      if (!answer.ok) throw new Error(now.detail);
      sessionStorage.setItem("focus", now.id);
      return location.assign(`/summary/${now.id}`);
    } catch (error) {
      said.textContent = `Not written again: ${error.message}`;
      again.disabled = false;
    }
  });
  window.addEventListener("pageshow", () => {
    again.disabled = false;
  });
}

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

// Coming from the form, the reader starts at the heading.
const heading = document.getElementById("heading");
if (heading && !section && sessionStorage.getItem("focus") && location.pathname.endsWith(sessionStorage.getItem("focus"))) {
  sessionStorage.removeItem("focus");
  heading.focus();
}

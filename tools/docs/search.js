// Search over INDEX, whose entries are [title, kind, address, text]. Everything happens in the page: no server is asked.
(function () {
  "use strict";
  const query = document.getElementById("query"), found = document.getElementById("found");
  const root = document.body.dataset.root;
  const ENTRIES = INDEX.map(([title, kind, address, text]) => ({
    title, kind, address, text, name: title.toLowerCase(), words: (title + " " + text).toLowerCase(),
    last: title.toLowerCase().split("::").pop(),
  }));
  let chosen = -1;

  // A pasted error message has numbers and names that the index's example lacks: most of its words count.
  function fraction(words, entry) {
    return words.filter((w) => entry.words.includes(w)).length / words.length;
  }

  function score(text, words, entry) {
    if (entry.last === text || entry.name === text) return 100 - entry.name.length / 100;
    if (entry.last.startsWith(text)) return 80 - entry.name.length / 10;
    const part = fraction(words, entry);
    if (part === 1) {
      const inTitle = words.every((w) => entry.name.includes(w));
      const bonus = entry.kind === "error" ? 12 : entry.kind === "guide" ? 6 : 0;
      return (inTitle ? 50 : 25) + bonus - entry.name.length / 20;
    }
    return entry.kind === "error" && words.length > 3 && part >= 0.5 ? 40 * part : 0;
  }

  function search(text) {
    text = text.trim().toLowerCase();
    const words = text.split(/[^a-z0-9_:+*.-]+/).filter((w) => w && !/^[\d.x-]+$/.test(w));
    if (!words.length) return [];
    return ENTRIES.map((entry) => [score(text, words, entry), entry]).filter((row) => row[0] > 0)
      .sort((a, b) => b[0] - a[0]).slice(0, 30).map((row) => row[1]);
  }

  function show() {
    const entries = search(query.value);
    chosen = -1;
    found.replaceChildren(...entries.map((entry) => {
      const item = document.createElement("li"), link = document.createElement("a");
      const title = document.createElement("b"), kind = document.createElement("i"), text = document.createElement("span");
      title.textContent = entry.title;
      kind.textContent = entry.kind;
      text.textContent = entry.text.slice(0, 110);
      link.href = (root ? root + "/" : "") + entry.address;
      link.append(title, kind, text);
      item.append(link);
      return item;
    }));
    if (query.value.trim() && !entries.length) {
      const item = document.createElement("li");
      item.textContent = "Nothing found.";
      found.append(item);
    }
    found.hidden = !query.value.trim();
  }

  function move(step) {
    const links = found.querySelectorAll("a");
    if (!links.length) return;
    chosen = (chosen + step + links.length) % links.length;
    links.forEach((link, i) => link.classList.toggle("chosen", i === chosen));
    links[chosen].scrollIntoView({ block: "nearest" });
  }

  query.addEventListener("input", show);
  query.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      const link = found.querySelectorAll("a")[Math.max(chosen, 0)];
      if (link) location.href = link.href;
    } else if (event.key === "Escape") {
      query.value = "";
      show();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== query) {
      event.preventDefault();
      query.focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) found.hidden = true;
    else if (found.hidden) show();
  });
  const menu = document.getElementById("menu");
  menu.addEventListener("click", () => {
    const open = document.body.classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    query.value = asked;
    show();
  }
})();

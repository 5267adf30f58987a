"use strict";
(() => {
  const marked = [...document.querySelectorAll("[data-step]")];
  const rows = marked.filter((one) => one.matches("tr"));
  const boxes = marked.filter((one) => one.matches("g.step"));
  const last = boxes.length;
  let selected = 0;

  function select(number) {
    const before = selected;
    const inTable = document.activeElement === rows[before - 1];
    selected = number;
    for (const one of marked) {
      const current = Number(one.dataset.step) === number;
      if (one.matches("section")) one.hidden = !current;
      else one.classList.toggle("current", current);
    }
    rows.forEach((row, index) => {
      const current = index === number - 1;
      row.tabIndex = current ? 0 : -1;
      if (current) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
    // At first the page stays at its top, where it says what went wrong.
    if (before === 0) return;
    if (inTable) rows[number - 1].focus();
    else boxes[number - 1].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  const targets = {
    ArrowDown: () => selected + 1,
    j: () => selected + 1,
    ArrowUp: () => selected - 1,
    k: () => selected - 1,
    Home: () => 1,
    End: () => last,
  };

  if (last) {
    document.querySelector("aside").hidden = false;
    select(1);
    document.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const number = targets[event.key]?.();
      // At either end the key scrolls the page, as it does anywhere else.
      if (number === undefined || number === selected || number < 1 || number > last) return;
      event.preventDefault();
      select(number);
    });
    for (const one of [...boxes, ...rows]) {
      one.addEventListener("click", () => select(Number(one.dataset.step)));
    }
  }

  for (const button of document.querySelectorAll("button[data-copies]")) {
    const source = document.getElementById(button.dataset.copies);
    button.hidden = false;
    button.addEventListener("click", async () => {
      // Selected in any case: if the browser refuses to copy, Ctrl+C does.
      getSelection().selectAllChildren(source);
      let copied = true;
      try {
        await navigator.clipboard.writeText(source.textContent);
      } catch {
        copied = document.execCommand("copy");
      }
      button.textContent = copied ? "Copied" : "Selected";
    });
  }
})();

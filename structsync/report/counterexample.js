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
    const fold = rows[number - 1].dataset.fold;
    if (fold) show(fold, true);
    // At first it is revealed by other means.
    if (before === 0) return;
    if (inTable) rows[number - 1].focus();
    else boxes[number - 1].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // Steps that show nothing are one row until they are unfolded.
  function show(fold, open) {
    for (const row of rows) if (row.dataset.fold === fold) row.hidden = !open;
    const head = document.querySelector(`tr[data-folds="${fold}"]`);
    head.hidden = false;
    head.querySelector("button").setAttribute("aria-expanded", open);
  }

  // The step that decides is in sight, below two others. Not by scrollIntoView(), which would move
  // a page round this one, too.
  function reveal(box) {
    const frame = document.querySelector(".beside > .scroll");
    const gutter = document.querySelector(".gutter").getBoundingClientRect().width;
    const inFrame = () => box.getBoundingClientRect();
    const outer = frame.getBoundingClientRect();
    frame.scrollTop += inFrame().top - outer.top - 160;
    if (inFrame().right > outer.right) frame.scrollLeft += inFrame().left - outer.left - gutter - 8;
    scrollBy(0, Math.max(0, inFrame().bottom + 16 - innerHeight));
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
    for (const head of document.querySelectorAll("tr[data-folds]")) {
      const button = head.querySelector("button"), fold = head.dataset.folds;
      show(fold, false);
      button.addEventListener("click", () => show(fold, button.ariaExpanded !== "true"));
    }
    select(Number(document.body.dataset.opens));
    reveal(boxes[selected - 1]);
    for (const link of document.querySelectorAll(".story a")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        select(Number(link.hash.slice("#step-".length)));
      });
    }
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

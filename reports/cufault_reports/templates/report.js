// SPDX-License-Identifier: Apache-2.0
// What the page can do without but is nicer with: links open what they lead to, commands copy, runs filter.
"use strict";
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.hidden) target.hidden = false;
  for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();

if (navigator.clipboard) {
  for (const box of document.querySelectorAll(".repeat")) {
    const button = document.createElement("button");
    button.textContent = "copy";
    button.addEventListener("click", () => navigator.clipboard.writeText(box.querySelector("code").textContent)
      .then(() => { button.textContent = "copied"; }, () => { button.textContent = "select and copy"; }));
    box.append(button);
  }
}

const filter = document.querySelector(".filter");
const runs = [...document.querySelectorAll("details.run")];
const texts = runs.map((run) => run.querySelector("summary").textContent.toLowerCase());
function applyFilter() {
  const words = filter.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  runs.forEach((run, number) => {
    run.hidden = !words.every((word) => texts[number].includes(word));
    shown += !run.hidden;
  });
  filter.querySelector(".count").textContent = words.length ? `${shown} of ${runs.length}` : "";
}
filter.hidden = false;
filter.querySelector("input").addEventListener("input", applyFilter);

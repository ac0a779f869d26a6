// What the pages say while a control moves, and to a screen reader half a second after the last move.
(() => {
  "use strict";
  document.documentElement.classList.add("scripts"); // buttons that only forms without scripts need are hidden
  const say = (() => {
    let timer = 0;
    return text => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const spoken = document.getElementById("spoken");
        if (spoken.textContent !== text) spoken.textContent = text; // a figure that stays is not said again
      }, 500);
    };
  })();
  const describe = slider => {
    const ticks = JSON.parse(slider.dataset.ticks);
    slider.setAttribute("aria-valuetext", ticks[slider.value]);
    const marks = slider.closest("[data-slider]").querySelectorAll("[data-tick]");
    marks.forEach((mark, place) => mark.classList.toggle("on", place === Number(slider.value)));
  };
  document.addEventListener("input", event => {
    if (event.target.matches("input[type=range][data-ticks]")) describe(event.target);
  });
  document.addEventListener("htmx:beforeRequest", event => event.detail.target.setAttribute("data-waiting", ""));
  document.addEventListener("htmx:afterRequest", event => event.detail.target.removeAttribute("data-waiting"));
  ["htmx:afterSwap", "htmx:oobAfterSwap"].forEach(name => document.addEventListener(name, () => {
    const spoken = document.querySelector("#figures[data-say]"); // not the target, which is no longer on the page
    if (spoken) say(spoken.dataset.say);
  }));
})();

// Light or dark: what the system prefers until the reader chooses. Runs before the page is painted; no module.
"use strict";

(() => {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  const kept = () => {
    try {
      return window.localStorage.getItem("egam-theme");
    } catch {
      return null; // storage may be forbidden; then the choice lasts as long as the page
    }
  };
  const keep = (theme) => {
    try {
      window.localStorage.setItem("egam-theme", theme);
    } catch {
      // see above
    }
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  if (["light", "dark"].includes(kept())) root.dataset.theme = kept();

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const label = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
    };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      keep(root.dataset.theme);
      label();
    });
    system.addEventListener("change", label);
    label();
  });
})();

// What a reader takes along: files of the result, and the same call as a line of curl or a few lines of Python.

const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "visibility", "display"];

/** Let the browser save a text as a file. */
export function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** A name for files: that of the instance, or of the problem. */
export function fileStem(draft) {
  return (draft.name || draft.problem).replace(/[^\w.-]+/g, "-");
}

/** CVRPLIB's form of routes. */
export function solOf(result) {
  const lines = result.routes.map((route, number) => `Route #${number + 1}: ${route.join(" ")}`);
  return [...lines, `Cost ${result.cost}`, ""].join("\n");
}

/** The map as a file of its own, in the light colours. */
export function svgOf(svg, title) {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.dataset.theme = "light";
  const copy = svg.cloneNode(true);
  const [from, to] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((element, number) => inline(element, to[number]));
  const paper = getComputedStyle(svg).backgroundColor;
  if (theme === undefined) delete root.dataset.theme;
  else root.dataset.theme = theme;
  for (const extra of copy.querySelectorAll(".reach, .halo, .cross")) extra.remove();
  for (const name of ["role", "tabindex", "aria-describedby", "class"]) copy.removeAttribute(name);
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("aria-label", title);
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["width", width], ["height", height], ["fill", paper]]) back.setAttribute(name, value);
  copy.prepend(back);
  return new XMLSerializer().serializeToString(copy);
}

function inline(element, copy) {
  const style = getComputedStyle(element);
  for (const name of DRAWN) copy.setAttribute(name, style.getPropertyValue(name));
  for (const name of ["class", "tabindex", "role", "data-node"]) copy.removeAttribute(name);
  if (element.matches(".reach, .halo, .cross")) copy.setAttribute("class", element.getAttribute("class"));
}

export function curlOf(request, address, withKey) {
  const body = JSON.stringify(request).replaceAll("'", "'\\''");
  const key = withKey ? ' \\\n  -H "Authorization: Bearer $EGAM_API_KEY"' : "";
  return `curl --fail-with-body ${address} \\\n  -H 'Content-Type: application/json'${key} \\\n  -d '${body}'\n`;
}

export function pythonOf(request) {
  const options = ["method", "decoding", "samples", "time_limit", "seed"]
    .filter((name) => request[name] !== null && request[name] !== undefined)
    .map((name) => `, ${name}=${literal(request[name])}`);
  const rows = Object.entries(request.instance).map(([key, value]) => `    ${literal(key)}: ${literal(value)},`);
  return [
    "from egam import solve",
    "from egam.io import instance_from_dict",
    "",
    "instance = instance_from_dict({",
    ...rows,
    "})",
    `result = solve(instance${options.join("")})`,
    "print(result)",
    "",
  ].join("\n");
}

/** A value of JSON as Python writes it. */
function literal(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  return JSON.stringify(value);
}

/** Copy to the clipboard, also where the page is not served over https and browsers hide it. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "unseen";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

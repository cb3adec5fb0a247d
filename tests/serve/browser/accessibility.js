// What is wrong with a page for people who see badly, or use no mouse: run in it, and returns sentences.

() => {
  const problems = [];
  const describe = (element) => `${element.tagName.toLowerCase()}${element.id ? `#${element.id}` : ""} “${(element.textContent || element.value || "").trim().slice(0, 40)}”`;
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.getClientRects().length > 0;
  const modal = document.querySelector("dialog[open]");
  const scope = modal ?? document.body;
  const all = [...scope.querySelectorAll("*")].filter(isShown);

  // Contrast: 4.5, or 3 for large letters (WCAG 1.4.3).
  const parse = (colour) => {
    const numbers = colour.match(/[\d.]+/g).map(Number);
    return { rgb: numbers.slice(0, 3), alpha: numbers[3] ?? 1 };
  };
  const over = (front, back) => front.rgb.map((value, at) => value * front.alpha + back[at] * (1 - front.alpha));
  const background = (element) => {
    if (!element) return [255, 255, 255];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own.alpha === 1 ? own.rgb : over(own, background(element.parentElement));
  };
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  for (const element of all) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    const isField = element.matches("input:not([type=checkbox]):not([type=file]), textarea, select");
    if (!hasText && !isField) continue;
    if (element.matches("option")) continue;
    const style = getComputedStyle(element);
    const back = background(element);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const found = contrast(over(parse(style.color), back), back);
    if (found < (large ? 3 : 4.5)) problems.push(`contrast ${found.toFixed(2)}: ${describe(element)}`);
    // Edges of fields, which are what one sees of them (WCAG 1.4.11).
    if (isField && contrast(parse(style.borderTopColor).rgb, background(element.parentElement)) < 3) problems.push(`edge: ${describe(element)}`);
  }

  // One can hit it with a finger (WCAG 2.5.8), unless it stands in a line of text.
  for (const element of all.filter((each) => each.matches("button, input, select, summary"))) {
    const { width, height } = element.getBoundingClientRect();
    const label = element.closest("label")?.getBoundingClientRect();
    if (Math.min(Math.max(width, label?.width ?? 0), Math.max(height, label?.height ?? 0)) < 24) problems.push(`small: ${describe(element)}`);
  }

  // Structure.
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push(`id twice: ${id}`);
  for (const element of all) {
    for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "aria-activedescendant"]) {
      for (const id of (element.getAttribute(name) ?? "").split(" ").filter(Boolean)) {
        if (!document.getElementById(id)) problems.push(`${name} of nothing: ${describe(element)}`);
      }
    }
    if (element.matches("[tabindex]") && element.tabIndex > 0) problems.push(`order of its own: ${describe(element)}`);
    if (element.matches("[role=option]") && !element.closest("[role=listbox]")) problems.push(`option of no list: ${describe(element)}`);
    if (element.matches("img:not([alt]), iframe")) problems.push(`no text: ${describe(element)}`);
  }
  if (!document.documentElement.lang || !document.title.trim()) problems.push("no language or title");
  if (document.querySelectorAll("h1").length !== 1 || !document.querySelector("main")) problems.push("no heading of the page, or no main part");
  let level = 1;
  for (const heading of document.querySelectorAll("main h1, main h2, main h3, main h4")) {
    const own = Number(heading.tagName[1]);
    if (isShown(heading) && own > level + 1) problems.push(`level left out: ${describe(heading)}`);
    level = own;
  }

  // It fits: nothing but what scrolls by itself is wider than the window (WCAG 1.4.10).
  if (document.documentElement.scrollWidth > innerWidth + 1) problems.push(`wider than the window: ${document.documentElement.scrollWidth}`);
  return problems;
}

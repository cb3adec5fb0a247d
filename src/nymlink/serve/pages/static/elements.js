// Makes elements. Texts are set as text, never read as HTML.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function button(label, run, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, ...[label].flat());
  made.addEventListener("click", run);
  return made;
}

export function labelled(text, field, attributes = {}) {
  return element("label", attributes, text, " ", field);
}

// A select element. options: [value, text] pairs, or texts that are also values.
export function choice(options, chosen, attributes = {}) {
  const made = element("select", attributes);
  for (const option of options) {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    made.append(new Option(text, value, false, value === chosen));
  }
  return made;
}

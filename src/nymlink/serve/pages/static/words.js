// The words of the page, in the language of the browser, or in the one that the user chose.

const stored = document.getElementById("words");
const { words, languages } = stored ? JSON.parse(stored.textContent) : { words: {}, languages: {} };
const YEAR = 31_536_000;

export const language = document.documentElement.lang;
const forms = new Intl.PluralRules(language);

// The text of a key with values in its places; n chooses the form.
export function t(key, values = {}) {
  const known = words[key];
  const text = typeof known === "object" ? (known[forms.select(values.n)] ?? known.other) : known;
  return text.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? number(values[name]) : values[name]));
}

export function number(value, digits = 0) {
  return value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const dayOf = (time) => new Date(time).toLocaleDateString(language);
export const momentOf = (time, how) => new Date(time).toLocaleString(language, how);

// The name of a language: "de" → German, "pt-BR" → Portuguese (BR).
export function languageName(code) {
  const [primary, ...rest] = code.split("-");
  const name = languages[primary] ?? primary;
  return rest.length ? `${name} (${rest.join("-")})` : name;
}

document.getElementById("language")?.addEventListener("change", ({ target }) => {
  document.cookie = `nymlink_language=${target.value}; path=/; max-age=${YEAR}; samesite=strict`;
  location.reload();
});

// Values in the storage of the browser. If it refuses, they last as long as the page.

export function recall(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    return false;
  }
  return true;
}

export function forget(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // The storage refuses, so it holds no value.
  }
}

export function keysThatBegin(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

// Every table as a file: CSV and JSON, made here.

const tables = new Map();   // name -> () => ({ columns, rows })
const table = (name, make) => tables.set(name, make);

function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function cell(value) {
  if (value === null || value === undefined) return "";
  // A spreadsheet would run a word such as =A1 as a formula; numbers may begin with a minus.
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value);
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}
const asCsv = ({ columns, rows }) => [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
const asJson = ({ columns, rows }) => JSON.stringify(
  rows.map((row) => Object.fromEntries(row.map((value, i) => [columns[i], value]))), null, 1);

for (const place of document.querySelectorAll("[data-table]")) {
  const name = place.dataset.table;
  for (const [kind, type, write] of [["CSV", "text/csv", asCsv], ["JSON", "application/json", asJson]]) {
    place.append(h("button", { type: "button", "aria-label": "Save " + name.replace("-", " ") + " as " + kind,
      onclick: () => save(name + "." + kind.toLowerCase(), type + ";charset=utf-8", write(tables.get(name)())) }, kind));
  }
}

function head(columns) {
  return h("thead", {}, h("tr", {}, columns.map(([name, number]) => h("th", { scope: "col", class: number ? "number" : null }, name))));
}

/* Tables that change while somebody reads them: only cells that differ are written anew, so that focus, open menus and
   selected text stay. */

/**
 * Fill the body of a table.
 *
 * @param {HTMLTableSectionElement} body
 * @param {object[]} rows
 * @param {(row: object) => string} key  names a row
 * @param {{class?: string, head?: boolean, empty?: boolean, of: (row: object) => any, show?: (row: object, cell: Element) => (Node|string)[]}[]} columns
 *   `of` returns what a cell depends on; `show` returns what is in it, the same as `of` by default, and may look at the
 *   cell as it was. A column that is `empty` is not shown.
 */
export function fill(body, rows, key, columns) {
  const known = new Map([...body.children].map((row) => [row.dataset.key, row]));
  let place = body.firstElementChild;
  const titles = titlesOf(body);
  columns.forEach((column, index) => titles[index] && (titles[index].hidden = Boolean(column.empty)));
  for (const row of rows) {
    const name = key(row);
    let line = known.get(name);
    known.delete(name);
    if (!line) {
      line = document.createElement("tr");
      line.dataset.key = name;
      for (const column of columns) {
        const cell = document.createElement(column.head ? "th" : "td");
        if (column.head) cell.scope = "row";
        if (column.class) cell.className = column.class;
        line.append(cell);
      }
    }
    columns.forEach((column, index) => {
      const cell = line.children[index];
      cell.hidden = Boolean(column.empty);
      cell.dataset.title = titles[index]?.textContent ?? "";
      const depends = JSON.stringify(column.of(row) ?? null);
      if (cell.depends === depends) return;
      cell.depends = depends;
      const shown = column.show ? column.show(row, cell) : [String(column.of(row) ?? "–")];
      cell.replaceChildren(...shown.filter((one) => one !== null && one !== false));
    });
    if (line === place) place = place.nextElementSibling;
    else body.insertBefore(line, place);
  }
  for (const line of known.values()) line.remove();
}

/** The titles of the columns: on a phone a row is a card, and every cell says what it is. */
export const titlesOf = (body) => [...(body.parentElement.tHead?.rows[0].cells ?? [])];

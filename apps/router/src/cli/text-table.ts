/** Lines of columns, left-aligned, as wide as their widest cell; no lines for no rows. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [header, ...rows].map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd());
}

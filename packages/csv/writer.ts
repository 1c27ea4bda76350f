// Writes CSV (RFC 4180) that spreadsheets open: text of others is never a formula there.

/**
 * Where a spreadsheet may take text for a formula: at its beginning, and after what some take for the end of a cell or row although it is
 * quoted, because theirs are separated by semicolons. Wide forms of the signs count in East Asian editions.
 */
const FORMULA = /(?<=^|[;\r\n])(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])/g

/** A cell with text that others chose: with an apostrophe before what would be a formula. */
export const textCell = (text: string): string => text.replace(FORMULA, "'")

/** Cells as they are, quoted where they hold what separates cells or rows. */
export const csvLine = (cells: readonly string[]): string =>
  `${cells.map(cell => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`

// Writes CSV (RFC 4180) in which a spreadsheet never takes user-supplied text for a formula.

/**
 * The places where a spreadsheet may see a formula: at the beginning of the text, and after a semicolon or line ending. Editions
 * that separate cells by semicolons end the cell or row there, even within quotes. The full-width signs count in East Asian
 * editions.
 */
const FORMULA = /(?<=^|[;\r\n])(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])/g

/** Returns a cell for user-supplied text, with an apostrophe before anything that could be a formula. */
export const textCell = (text: string): string => text.replace(FORMULA, "'")

/** Returns one line. A cell is quoted if it contains a character that separates cells or rows, or a quote. */
export const csvLine = (cells: readonly string[]): string =>
  `${cells.map(cell => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`

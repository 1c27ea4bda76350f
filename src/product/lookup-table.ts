/** Whether the `lookup` filter of templates can use a table with these columns. */
export const isLookupTable = (columns: readonly string[]): boolean =>
  columns.includes('key') && columns.includes('value')

/** Whether the database can keep the text: SQLite's holds neither lone surrogates nor NUL. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** The text as the database can keep it. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** Whether the text has more characters than `most`. Characters are code points: an emoji is one, not two. */
export const isLongerThan = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most)

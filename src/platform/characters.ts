/** Whether the text has more characters than `most`. Characters are code points: an emoji is one, not two. */
export const isLongerThan = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most)

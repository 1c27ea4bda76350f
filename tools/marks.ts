// Pages that are written by hand except for a part between two marks, which a command writes from the code.

/** Returns the page with the text between the marks, each of which is on its own line. Throws if the page lacks them. */
export function betweenMarks(page: string, begin: string, end: string, text: string): string {
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from < 0 || to < from) throw new Error(`The page needs ${begin} and ${end}.`)
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`
}

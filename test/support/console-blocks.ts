// Reads the commands that a page asks the reader to type, with the output that the page shows for them.

export type Typed = {
  readonly command: string
  readonly prints: string
}

/** Returns the commands of all ```console blocks below a heading, in order: `$ command`, then its output. */
export function typedLines(markdown: string, heading: string): Typed[] {
  const from = markdown.indexOf(`\n## ${heading}\n`)
  if (from < 0) throw new Error(`There is no heading '${heading}'.`)
  const section = markdown.slice(from + 4).split('\n## ')[0]!
  const blocks = [...section.matchAll(/```console\n([\s\S]*?)```/g)].map(([, block]) => block!)
  return blocks.flatMap(block =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map(text => {
        const end = text.indexOf('\n')
        return { command: text.slice(0, end), prints: text.slice(end + 1) }
      }),
  )
}

/**
 * Replaces what differs from run to run: locators, times, the port, the path of the user's settings, npm's warnings about its own
 * settings, and durations.
 */
export const withoutVariableParts = (text: string): string =>
  text
    .replace(/^npm warn .*\n/gm, '')
    .replace(/http:\/\/localhost:\d+/g, 'http://localhost')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'LOCATOR')
    .replace(/\b\d{9,}\b/g, 'NUMBER')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME')
    .replace(/\S*\/bindery\/sign-in\.json/g, 'SETTINGS')
    .replace(/\b[\d.]+ s\)/g, 'SECONDS)')
    .trimEnd()

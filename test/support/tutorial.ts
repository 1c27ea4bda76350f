// Performs a page that builds something: the files on it, the commands to type, and their output.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A file to write or a command to type, in the order of the page. */
export type Step =
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  | { readonly kind: 'command'; readonly command: string; readonly prints: string }

const FILE = /^\*\*`([^`]+)`\*\*\n\n```\w+\n([\s\S]*?)^```$/
const CONSOLE = /^```console\n([\s\S]*?)^```$/
const STEP = new RegExp(`${FILE.source}|${CONSOLE.source}`, 'gm')

/** Files are below their path in bold. Commands are in ```console blocks, each after `$ ` and before its output. */
export const stepsOf = (markdown: string): Step[] =>
  [...markdown.matchAll(STEP)].flatMap(([, path, text, block]): Step[] => {
    if (path !== undefined) return [{ kind: 'file', path, text: text! }]
    return block!
      .split(/^\$ /m)
      .slice(1)
      .map(typed => {
        const end = typed.indexOf('\n')
        return { kind: 'command', command: typed.slice(0, end), prints: typed.slice(end + 1) }
      })
  })

export function writeStep(folder: string, { path, text }: { path: string; text: string }): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/**
 * Performs the commands `rm -r PATH`, `rm PATH` and `sed -i 's/FROM/TO/' PATH` of a page. Throws for others, and for those that
 * have no effect.
 */
export function perform(folder: string, command: string): void {
  const [, path] = /^rm (?:-r )?(\S+)$/.exec(command) ?? []
  if (path !== undefined) {
    rmSync(join(folder, path), { recursive: command.startsWith('rm -r ') })
    return
  }
  const [, from, to, edited] = /^sed -i 's\/([^/']+)\/([^/']+)\/' (\S+)$/.exec(command) ?? []
  if (edited === undefined) throw new Error(`'${command}' is not typed by this test.`)
  const file = join(folder, edited)
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from!)) throw new Error(`There is no '${from}' in ${edited}.`)
  // As in sed, only the first match of each line.
  writeFileSync(
    file,
    text
      .split('\n')
      .map(line => line.replace(from!, to!))
      .join('\n'),
  )
}

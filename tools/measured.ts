// docs/measured.md: each measuring script writes its own section, between two marks, and leaves the others unchanged.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

const OPENING = `# Measured

Each section is written by the script that it names; do not edit.
`

/**
 * Writes `markdown` (without marks or surrounding blank lines) between `<!-- name:begin -->` and `<!-- name:end -->` of `file`. A
 * missing section is added at the end, and a missing file is created.
 */
export function writeSection(name: string, markdown: string, file = 'docs/measured.md'): void {
  const begin = `<!-- ${name}:begin -->`
  const end = `<!-- ${name}:end -->`
  const section = `${begin}\n\n${markdown.trim()}\n\n${end}`
  const text = existsSync(file) ? readFileSync(file, 'utf8') : OPENING
  const from = text.indexOf(begin)
  if (from === -1) {
    if (text.includes(end))
      throw new Error(`${file}: ${end} without ${begin}. Add the missing marker or remove the other.`)
    writeFileSync(file, `${text.trimEnd()}\n\n${section}\n`)
    return
  }
  const to = text.indexOf(end, from)
  if (to === -1)
    throw new Error(`${file}: ${begin} without ${end} after it. Add the missing marker or remove the other.`)
  writeFileSync(file, text.slice(0, from) + section + text.slice(to + end.length))
}

/** Returns what figures depend on, as a sentence: the commit, the day and the machine. */
export function measuredAt(): string {
  const git = (...words: string[]): string => execFileSync('git', words, { encoding: 'utf8' }).trim()
  const changed =
    git('status', '--porcelain', '--', '.', ':!docs/measured.md') === '' ? '' : ', with uncommitted changes'
  const processors = cpus()
  return `Commit ${git('rev-parse', '--short', 'HEAD')}${changed}, ${new Date().toISOString().slice(0, 10)}, ${processors.length} × ${processors[0]?.model ?? 'processor'}, Node ${process.versions.node}.`
}

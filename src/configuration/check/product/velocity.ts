import type { TemplateSource } from '../../configuration.ts'
import { lineIndex } from '../json/read.ts'
import type { Report } from '../report.ts'

const DIRECTIVE = /#\{?(if|foreach|macro|define|elseif|else|end|set)\b\}?/y
const WITH_ARGUMENTS = new Set(['if', 'foreach', 'macro', 'define', 'elseif', 'set'])
const BLOCKS = new Set(['if', 'foreach', 'macro', 'define'])
/** Comments and unparsed text, by what opens them. */
const SKIPPED = { '#*': '*#', '#[[': ']]#' } as const

/**
 * Checks that the blocks, comments and arguments of a Velocity template are closed. It does not use the parser that
 * renders: that one takes time exponential in the number of blocks left open, which is what is looked for here.
 */
export function checkVelocity({ path, source }: TemplateSource, report: Report): void {
  const positionAt = lineIndex(source)
  const refuse = (offset: number, message: string): void =>
    report.error({ path, ...positionAt(offset) }, 'badVelocity', message)
  const open: { word: string; offset: number }[] = []
  for (let at = source.indexOf('#'); at !== -1; at = source.indexOf('#', at)) {
    const start = at
    const skipped = skippedText(source, at)
    if (skipped !== undefined) {
      if (skipped.end === -1) {
        refuse(
          start,
          `The '${skipped.opener}' that begins here is never closed by '${skipped.closer}'. Close it.`,
        )
        return
      }
      at = skipped.end
      continue
    }
    DIRECTIVE.lastIndex = at
    const word = source[at - 1] === '\\' ? undefined : DIRECTIVE.exec(source)?.[1]
    if (word === undefined) {
      at += 1
      continue
    }
    at = DIRECTIVE.lastIndex
    if (WITH_ARGUMENTS.has(word)) {
      const end = argumentsEnd(source, at)
      if (end === -1) {
        refuse(start, `'#${word}' needs its arguments between '(' and ')'. Add or close them.`)
        return
      }
      at = end
    }
    if (BLOCKS.has(word)) open.push({ word, offset: start })
    else if (word === 'end' && open.pop() === undefined)
      refuse(start, "This '#end' closes nothing. Remove it, or add the directive that it belongs to.")
    else if (word.startsWith('else') && !['if', 'foreach'].includes(open.at(-1)?.word ?? ''))
      refuse(start, `This '#${word}' stands in no '#if'. Remove it, or add the '#if'.`)
  }
  for (const { word, offset } of open)
    refuse(offset, `The '#${word}' that begins here is never closed. Add '#end'.`)
}

type SkippedText = { opener: string; closer: string; end: number }

function skippedText(source: string, at: number): SkippedText | undefined {
  if (source.startsWith('##', at)) {
    const lineEnd = source.indexOf('\n', at)
    return { opener: '##', closer: '\n', end: lineEnd === -1 ? source.length : lineEnd }
  }
  for (const [opener, closer] of Object.entries(SKIPPED)) {
    if (!source.startsWith(opener, at)) continue
    const end = source.indexOf(closer, at + opener.length)
    return { opener, closer, end: end === -1 ? -1 : end + closer.length }
  }
  return undefined
}

/** Longest arguments of a directive; bounds the work for parentheses that never close. */
const LONGEST_ARGUMENTS = 10_000

/** Past the parenthesis that closes the arguments, or -1. */
function argumentsEnd(source: string, from: number): number {
  let at = from
  while (source[at] === ' ' || source[at] === '\t') at += 1
  if (source[at] !== '(') return -1
  const limit = Math.min(source.length, at + LONGEST_ARGUMENTS)
  let depth = 0
  let quote: string | undefined
  for (; at < limit; at += 1) {
    const char = source[at]!
    if (quote !== undefined) quote = char === quote ? undefined : quote
    else if (char === '"' || char === "'") quote = char
    else if (char === '(') depth += 1
    else if (char === ')') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return -1
}

import { TagToken, type TopLevelToken, TypeGuards } from 'liquidjs/dist/liquid.browser.mjs'
import type { Report } from './report.ts'

type Options = ConstructorParameters<typeof TagToken>[3]

/** Tags with a body, which `end<name>` closes. `comment` and `raw` are closed where the source is cut. */
export const BLOCKS = new Set(['if', 'unless', 'case', 'for', 'tablerow', 'capture', 'header', 'footer'])

/**
 * Tokens to be taken with `shift`, as the library does, kept back to front: shifting a long array moves all of it.
 * Only `shift` and `length` mean what they say.
 */
class TokenQueue extends Array<TopLevelToken> {
  override shift(): TopLevelToken | undefined {
    return this.pop()
  }
}

/**
 * The tokens with every block closed in its order. A `case` that is never closed ends where its surroundings do, with
 * a warning; any other open block, and an end without a beginning, is an error.
 */
export function balanced(tokens: TopLevelToken[], options: Options, report: Report): TokenQueue {
  const result: TopLevelToken[] = []
  const open: TagToken[] = []
  const close = (block: TagToken): void => {
    const unclosedCase = block.name === 'case'
    report.add(
      unclosedCase ? 'WARNING' : 'ERROR',
      'blockNotClosed',
      `'${block.name}' is not closed${unclosedCase ? '; it ends with what surrounds it' : ''}. Add '{% end${block.name} %}'.`,
      block.begin,
    )
    const text = `{% end${block.name} %}`
    result.push(new TagToken(text, 0, text.length, options, block.file))
  }
  for (const token of tokens) {
    const name = TypeGuards.isTagToken(token) ? token.name : ''
    if (TypeGuards.isTagToken(token) && BLOCKS.has(name)) open.push(token)
    else if (name.startsWith('end') && BLOCKS.has(name.slice(3))) {
      const opening = open.findLastIndex(block => block.name === name.slice(3))
      if (opening < 0) {
        report.add(
          'ERROR',
          'endWithoutBlock',
          `There is no '${name.slice(3)}' for this '${name}'. Remove it.`,
          token.begin,
        )
        continue
      }
      for (const block of open.splice(opening).slice(1).reverse()) close(block)
    }
    result.push(token)
  }
  for (const block of open.reverse()) close(block)
  const queue = new TokenQueue()
  for (const token of result.reverse()) queue.push(token)
  return queue
}

/** Drops the rest of a block that could not be read, its end included. */
export function skipBlock(name: string, remaining: TopLevelToken[]): void {
  for (let depth = 1; depth > 0 && remaining.length > 0; ) {
    const token = remaining.shift()
    if (!TypeGuards.isTagToken(token)) continue
    if (token.name === name) depth += 1
    if (token.name === `end${name}`) depth -= 1
  }
}

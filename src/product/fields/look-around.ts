// Look-around in patterns. A linear-time engine does not support it. A look-around whose place is the same in every text can be
// matched separately at that place: "no 000 at the beginning", "a digit somewhere", "not 00 after four characters".

/** A pattern that must, or must not, match after a number of characters, or at the end of the text. */
export type Look = {
  readonly pattern: string
  readonly isWanted: boolean
  readonly place: number | 'end'
}

export type SplitPattern = { readonly plain: string; readonly looks: readonly Look[] }

/** `text` is the source including `repeats`, the quantifier. */
type Node = { readonly text: string; readonly repeats: string } & (
  | {
      readonly kind: 'look'
      readonly open: string
      readonly inner: string
      readonly within: readonly Node[][]
    }
  | { readonly kind: 'group'; readonly open: string; readonly within: readonly Node[][] }
  | { readonly kind: 'anchor' | 'character' | 'unknown' }
)

const LOOK = /\(\?<?[=!]/
const FLAGS = /^\(\?[a-wyz]+\)/i

const OPENING = /\((?:\?(?:P?<\w+>|<?[=!]|[\w-]*:|[\w-]+(?=\))))?/y
const CLASS = /\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]/sy
const ANCHOR = /[\^$]|\\[AbBGzZ]/y
const CHARACTER =
  /\\(?:[pP](?:\{[^}]*\}|\w)|x(?:\{[^}]*\}|[\da-f]{2})|u[\da-f]{4}|[dDwWsSfnrtv]|[^\w])|[^\\()[\]|]/iuy
const REPEATS = /(?:[*+?]|\{\d+(?:,\d*)?\})[?+]?/y
const UNKNOWN = /\\?./sy

/** Parses only as much as is needed to separate the parts. The engine decides what the rest means. */
class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const [text] = pattern.exec(this.#source) ?? []
    if (text !== undefined) this.#at += text.length
    return text
  }

  alternatives(): Node[][] {
    const all: Node[][] = [[]]
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at += 1
        all.push([])
      } else all.at(-1)!.push(this.#node())
    }
    return all
  }

  #node(): Node {
    const begin = this.#at
    const repeated = () => {
      const repeats = this.#take(REPEATS) ?? ''
      return { repeats, text: this.#source.slice(begin, this.#at) }
    }
    const open = this.#take(OPENING)
    if (open === undefined) return { kind: this.#atom(), ...repeated() }
    const from = this.#at
    const within = this.alternatives()
    if (this.#at >= this.#source.length) throw new Error('missing closing )')
    const inner = this.#source.slice(from, this.#at)
    this.#at += 1
    return LOOK.test(open)
      ? { kind: 'look', open, inner, within, ...repeated() }
      : { kind: 'group', open, within, ...repeated() }
  }

  #atom(): 'anchor' | 'character' | 'unknown' {
    if (this.#take(ANCHOR)) return 'anchor'
    if (this.#take(CLASS) || this.#take(CHARACTER)) return 'character'
    this.#take(UNKNOWN)
    return 'unknown'
  }
}

const hasSome = (all: readonly (readonly Node[])[], is: (node: Node) => boolean): boolean =>
  all.some(nodes => nodes.some(node => is(node) || ('within' in node && hasSome(node.within, is))))

const isLook = ({ kind }: Node): boolean => kind === 'look'
const isEnd = (node: Node): boolean => node.kind === 'anchor' && /^(?:\$|\\z)/i.test(node.text)
const isOtherAnchor = (node: Node): boolean => node.kind === 'anchor' && !isEnd(node)

/** Whether a group sets flags for what follows, such as `(?i)`. */
const isFlags = (open: string): boolean => /^\(\?[\w-]+$/.test(open)

/** The length of every text that matches, in characters; undefined if lengths differ. */
function lengthOf(all: readonly (readonly Node[])[]): number | undefined {
  const lengths = all.map(nodes =>
    nodes.reduce((sum: number | undefined, node) => {
      const own = lengthOfNode(node)
      return sum === undefined || own === undefined ? undefined : sum + own
    }, 0),
  )
  return lengths.every(one => one === lengths[0]) ? lengths[0] : undefined
}

function lengthOfNode(node: Node): number | undefined {
  if (node.kind === 'anchor' || node.kind === 'look') return 0
  const times = timesOf(node.repeats)
  if (times === undefined) return undefined
  if (node.kind === 'character') return times
  const once = node.kind === 'group' ? lengthOf(node.within) : undefined
  return once === undefined ? undefined : once * times
}

/** How often a part is repeated; undefined if the number varies. */
function timesOf(repeats: string): number | undefined {
  if (repeats === '') return 1
  const [, least, most = least] = /^\{(\d+)(?:,(\d*))?\}/.exec(repeats) ?? []
  return least !== undefined && least === most ? Number(least) : undefined
}

/**
 * Returns the source of the nodes without look-around, and adds that to `looks`. `before` is the number of characters before the
 * nodes.
 */
function withoutLookAround(
  nodes: readonly Node[],
  before: number | undefined,
  reachesEnd: boolean,
  looks: Look[],
): string {
  let place = before
  let text = ''
  for (const [at, node] of nodes.entries()) {
    const isLast = reachesEnd && nodes.slice(at + 1).every(isEnd)
    if (node.kind === 'group' && isFlags(node.open)) throw new Error('flags are combined with look-around')
    if (node.kind === 'look') looks.push(lookOf(node, place, isLast))
    else if (node.kind === 'group' && hasSome(node.within, isLook)) {
      const [only] = node.within
      if (node.repeats !== '' || node.within.length > 1 || !/^\((?:\?(?:P?<\w+>|:))?$/.test(node.open))
        throw new Error('look-around is in a part that is repeated, has alternatives or has flags')
      text += `${node.open}${withoutLookAround(only!, place, isLast, looks)})`
    } else text += node.text
    const length = lengthOfNode(node)
    place = place === undefined || length === undefined ? undefined : place + length
  }
  return text
}

function lookOf(
  { open, inner, within, repeats }: Extract<Node, { kind: 'look' }>,
  place: number | undefined,
  isLast: boolean,
): Look {
  const isWanted = open.endsWith('=')
  if (repeats !== '' || hasSome(within, isLook)) throw new Error('look-around is repeated or nested')
  if (open.includes('<')) {
    if (!isLast) throw new Error('look-behind is not at the end')
    return { pattern: inner, isWanted, place: 'end' }
  }
  if (place === undefined) throw new Error('look-ahead follows a part whose length varies')
  if (place > 0 && hasSome(within, isOtherAnchor)) throw new Error('look-ahead contains an anchor')
  return { pattern: inner, isWanted, place }
}

/** Removes look-around from a pattern. Throws an error with the reason if it cannot. */
export function splitLookAround(source: string): SplitPattern {
  if (!LOOK.test(source)) return { plain: source, looks: [] }
  const flags = FLAGS.exec(source)?.[0] ?? ''
  const all = new Reader(source.slice(flags.length)).alternatives()
  if (!hasSome(all, isLook)) return { plain: source, looks: [] }
  if (all.length > 1) throw new Error('look-around is in an alternative')
  const looks: Look[] = []
  const plain = flags + withoutLookAround(all[0]!, 0, true, looks)
  return { plain, looks: looks.map(look => ({ ...look, pattern: flags + look.pattern })) }
}

// The snippets that a template includes, and those that these include: by static name, as they are in force at the
// template's own time and place (resources brief 4.3).
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Instant } from '../../platform/time.ts'
import { revisionFile } from '../files/service.ts'
import type { Resource } from '../resource.ts'
import { selectInForce } from '../selection.ts'
import { findCandidates } from '../store.ts'

export type TemplateText = { readonly resource: Resource; readonly source: string }

/** The day and the place for which names are read. */
export type TimeAndPlace = { readonly at: Instant; readonly jurisdiction: string | undefined }

/** Of one template, and their characters together. */
const MOST_SNIPPETS = 200
const MOST_CHARACTERS = 10 * 1_048_576

/** Reads at a time: an isolate has six connections. */
const AT_A_TIME = 6

/** `{% render 'name' %}`, `{% include "name" %}`, `#parse("name")`, `#include('name')`. */
const INCLUDED = {
  liquid: /\{%-?\s*(?:render|include)\s+(?:"([^"]{1,128})"|'([^']{1,128})')/g,
  velocity: /#(?:parse|include)\s*\(\s*(?:"([^"$#]{1,128})"|'([^']{1,128})')/g,
} as const

/** Names that stand in the source; those that a template makes up while it is rendered are found then. */
const namesIn = ({ resource, source }: TemplateText): string[] =>
  [...source.matchAll(INCLUDED[resource.templateFormat ?? 'liquid'])].map(([, a, b]) => (a ?? b)!)

export const textOf = async (
  context: Pick<RequestContext, 'tenant' | 'env' | 'calls'>,
  resource: Resource,
): Promise<TemplateText> => ({ resource, source: await (await revisionFile(context, resource)).text() })

export class Snippets {
  readonly #context: Pick<RequestContext, 'tenant' | 'env' | 'calls'>
  readonly #database: Database
  readonly #where: TimeAndPlace
  /** By static name; undefined where none is in force. */
  readonly #read = new Map<string, TemplateText | undefined>()
  #characters = 0

  constructor(
    context: Pick<RequestContext, 'tenant' | 'env' | 'calls'>,
    database: Database,
    where: TimeAndPlace,
  ) {
    this.#context = context
    this.#database = database
    this.#where = where
  }

  get(name: string): TemplateText | undefined {
    return this.#read.get(name)
  }

  isKnown(name: string): boolean {
    return this.#read.has(name)
  }

  /** Those in force. */
  used(): Resource[] {
    return [...this.#read.values()].flatMap(one => (one ? [one.resource] : []))
  }

  /**
   * Reads the snippets of the names and what they include, a round trip and one read of files for each level. Refuses
   * (422) more than 200 of them, or more than 10 MiB.
   */
  async load(names: readonly string[]): Promise<void> {
    let wanted = this.#unknown(names)
    while (wanted.length > 0) {
      const found = await this.#found(wanted)
      wanted = this.#unknown(found.flatMap(namesIn))
    }
  }

  loadFor(text: TemplateText): Promise<void> {
    return this.load(namesIn(text))
  }

  #unknown(names: readonly string[]): string[] {
    const unknown = [...new Set(names)].filter(name => !this.#read.has(name))
    if (this.#read.size + unknown.length > MOST_SNIPPETS)
      throw new Refusal('templateLimit', `The template includes more than ${MOST_SNIPPETS} snippets.`)
    return unknown
  }

  async #found(names: readonly string[]): Promise<TemplateText[]> {
    const { resources, groups } = await findCandidates(this.#database, names)
    const chosen = names.map(name => {
      const own = resources.filter(one => one.staticName === name && one.type === 'documentTemplateSnippet')
      return { name, resource: selectInForce(own, groups, this.#where).chosen?.resource }
    })
    const texts: TemplateText[] = []
    for (let from = 0; from < chosen.length; from += AT_A_TIME) {
      const read = chosen.slice(from, from + AT_A_TIME).map(async ({ name, resource }) => {
        const text = resource && (await textOf(this.#context, resource))
        this.#read.set(name, text)
        return text
      })
      for (const text of await Promise.all(read)) {
        if (!text) continue
        texts.push(text)
        this.#characters += text.source.length
        if (this.#characters > MOST_CHARACTERS)
          throw new Refusal('templateLimit', 'The snippets of the template are more than 10 MiB together.')
      }
    }
    return texts
  }
}
